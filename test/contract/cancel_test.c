/* Cancelling while the kernel takes no submissions: only io_uring has a queue of them. */
#include <dlfcn.h>

#include "contract.h"

#define POLLS 2000 /* more than a queue holds */

struct io_uring;

static bool refuses;

/* In the place of liburing's own. */
int io_uring_submit(struct io_uring *ring);
int io_uring_submit(struct io_uring *ring)
{
    int (*submit)(struct io_uring *) = (int (*)(struct io_uring *))(uintptr_t)dlsym(RTLD_NEXT, "io_uring_submit");

    return refuses || !submit ? -EBUSY : submit(ring);
}

static struct uw_operation polls[POLLS];

CONTRACT(what_cannot_be_cancelled_now_is_cancelled_later)
{
    int fds[2], busy = 0;

    if (strcmp(backend_name, "io_uring"))
        return;
    make_pair(fds);
    refuses = true;
    for (int i = 0; i < POLLS; i++) {
        polls[i] = (struct uw_operation){.verb = UW_POLL, .fd = fds[0], .length = POLLIN, .complete = note};
        uw_submit(&loop, &polls[i]);
        busy += polls[i].ended;
    }
    CHECK(busy > 0 && busy < POLLS);
    uw_cancel(&loop, &polls[0]);
    uw_cancel(&loop, &polls[1]);
    refuses = false;
    turn_until(&results, busy);
    for (int i = 0; i < 3 && polls[0].pending; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_NS_PER_SECOND / 10));
    CHECK(!polls[0].pending && !polls[1].pending && polls[2].pending);
    CHECK_EQUAL(busy + 2, results);
    close_pair(fds);
}

CONTRACT_MAIN
