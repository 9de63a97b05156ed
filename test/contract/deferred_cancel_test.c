/* Cancelling what the kernel cannot cancel at once. */
#include "backend_contract.h"

#define POLLS 2000 /* more than a queue holds */
#define BIG_BYTES (4 * 1024 * 1024)

#if defined UW_HAVE_IO_URING && defined UW_LOADS_LIBURING

#include "io/liburing_library.h"

static int refuse_to_submit(struct io_uring *ring)
{
    (void)ring;
    return -EBUSY;
}

static void set_refuses(bool refuse)
{
    static int (*submit)(struct io_uring *);

    if (refuse)
        submit = io_uring_submit;
    io_uring_submit = refuse ? refuse_to_submit : submit; /* a member of uw_liburing */
}

#else

#include <dlfcn.h>

struct io_uring;

static bool refuses;

static void set_refuses(bool refuse)
{
    refuses = refuse;
}

/* In the place of liburing's own. */
int io_uring_submit(struct io_uring *ring);
int io_uring_submit(struct io_uring *ring)
{
    int (*submit)(struct io_uring *) = (int (*)(struct io_uring *))(uintptr_t)dlsym(RTLD_NEXT, "io_uring_submit");

    return refuses || !submit ? -EBUSY : submit(ring);
}

#endif

static struct uw_operation polls[POLLS];

CONTRACT(what_cannot_be_cancelled_now_is_cancelled_later)
{
    int fds[2], busy = 0;

    if (strcmp(backend_name, "io_uring"))
        return;
    make_pair(fds);
    set_refuses(true);
    for (int i = 0; i < POLLS; i++) {
        polls[i] = (struct uw_operation){.opcode = UW_POLL, .fd = fds[0], .length = POLLIN, .complete = note};
        uw_submit(&loop, &polls[i]);
        busy += polls[i].ended;
    }
    CHECK(busy > 0 && busy < POLLS);
    uw_cancel(&loop, &polls[0]);
    uw_cancel(&loop, &polls[1]);
    set_refuses(false);
    turn_until(&results, busy);
    for (int i = 0; i < 3 && polls[0].pending; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_NS_PER_SECOND / 10));
    CHECK(!polls[0].pending && !polls[1].pending && polls[2].pending);
    CHECK_EQUAL(busy + 2, results);
    close_pair(fds);
}

/* Of a socket that is shut down for reading the kernel tells that it is ready, when it cannot be written to; then a
 * worker thread writes. */
static void cancel_write(struct uw_operation *write, bool flushes, int turns)
{
    static char bytes[BIG_BYTES];
    int fds[2];

    make_pair(fds);
    CHECK_EQUAL(0, shutdown(fds[0], SHUT_RD));
    FILL(send(fds[0], bytes, sizeof bytes, MSG_DONTWAIT));
    write->fd = fds[0];
    write->data = bytes;
    write->length = sizeof bytes;
    write->complete = note;
    uw_submit(&loop, write);
    if (flushes)
        uw_loop_flush(&loop);
    for (int i = 0; i < turns; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(-ECANCELED, cancel(write));
    close_pair(fds);
}

CONTRACT(what_the_kernel_does_not_find_is_cancelled_all_the_same)
{
    for (int turns = 0; turns < 4; turns++) {
        for (int flushes = 0; flushes <= 1; flushes++) {
            cancel_write(&(struct uw_operation){.opcode = UW_SEND}, flushes, turns);
            cancel_write(&(struct uw_operation){.opcode = UW_WRITE, .offset = -1, .socket = true}, flushes, turns);
            cancel_write(&(struct uw_operation){.opcode = UW_WRITE, .offset = -1}, flushes, turns);
        }
    }
    CHECK_EQUAL(0, uw_loop_operations(&loop));
}

CONTRACT_MAIN
