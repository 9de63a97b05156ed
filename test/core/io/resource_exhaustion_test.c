/* What a loop does when descriptors or memory run out. */
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system.h"
#include "check.h"
#include "io/backend.h"

#define DESCRIPTORS 64
#define ENOUGH 8 /* for any loop */
#define TURNS 3

static int taken[DESCRIPTORS];

static int take_all(void)
{
    int count = 0;

    while (count < DESCRIPTORS && (taken[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    CHECK_EQUAL(EMFILE, errno);
    return count;
}

static const char *backend_of_new_loop(int *error)
{
    struct uw_loop loop;

    *error = uw_loop_open(&loop, NULL, NULL);
    if (*error)
        return NULL;
    uw_loop_close(&loop);
    return loop.backend->name;
}

/* Some need fewer than others. */
TEST(no_other_backend_is_chosen_for_want_of_descriptors)
{
    struct rlimit before, few;
    const char *usual, *found = NULL;
    int error, count;

    if (getenv("UW_UNDER_VALGRIND")) {
        check_skip_reason = "valgrind does not know io_uring";
        return;
    }
    usual = backend_of_new_loop(&error);
    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    few = (struct rlimit){.rlim_cur = DESCRIPTORS, .rlim_max = before.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &few));
    count = take_all();
    for (int given = 0; given < ENOUGH; given++) {
        found = backend_of_new_loop(&error);
        CHECK(found ? found == usual : error == -EMFILE);
        close(taken[--count]);
    }
    CHECK(found == usual);
    while (count > 0)
        close(taken[--count]);
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
}

static int fail_for_memory(struct uw_loop *loop, int fd, unsigned old, unsigned new)
{
    (void)loop, (void)fd, (void)old, (void)new;
    return -ENOMEM;
}

static void note_result(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop;
    *(int32_t *)operation->data = result;
}

/* Of two who wait for a descriptor the second, when the first has gone. */
TEST(who_can_be_told_nothing_any_more_is_told_so)
{
    int32_t first = 0, second = 0;
    struct uw_operation in = {.opcode = UW_POLL, .length = POLLIN, .data = &first, .complete = note_result};
    struct uw_operation urgent = {.opcode = UW_POLL, .length = POLLPRI, .data = &second, .complete = note_result};
    struct uw_backend short_of_memory;
    const struct uw_backend *usual;
    struct uw_loop loop;
    int ends[2];

    CHECK_EQUAL(0, uw_loop_open(&loop, "poll", NULL));
    CHECK_EQUAL(0, uw_socket_pair(ends));
    in.fd = urgent.fd = ends[0];
    uw_submit(&loop, &in);
    uw_submit(&loop, &urgent);
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(1, write(ends[1], "x", 1));
    usual = loop.backend;
    short_of_memory = *usual;
    short_of_memory.interest = fail_for_memory;
    loop.backend = &short_of_memory;
    for (int i = 0; i < TURNS && second == 0; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_NS_PER_SECOND));
    loop.backend = usual;
    CHECK_EQUAL(POLLIN, first);
    CHECK_EQUAL(-ENOMEM, second);
    CHECK_EQUAL(0, uw_close(&loop, ends[0]));
    close(ends[1]);
    uw_loop_close(&loop);
}

TEST_MAIN
