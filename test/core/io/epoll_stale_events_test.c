/* What the backend epoll does with events that nobody waits for any more. */
#include "check.h"

#ifdef UW_HAVE_EPOLL
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "io/backend.h"
#include "seccomp_faults.h"

#define TURN_NS (20 * UW_NS_PER_SECOND) /* is over at once when there is something to tell */

static struct uw_operation polls[2];
static int ended[2];

static void cancel_the_other(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)result;
    for (int i = 0; i < 2; i++)
        if (&polls[i] == operation)
            ended[i]++;
        else
            uw_cancel(loop, &polls[i]);
}

static void close_the_other(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)result;
    for (int i = 0; i < 2; i++)
        if (&polls[i] == operation)
            ended[i]++;
        else if (polls[i].pending)
            CHECK_EQUAL(0, uw_close(loop, polls[i].fd));
}

/* Two are ready; the first of them ends the other. For that nobody is registered anew, which a new set would tell. */
static void end_one_of_two(void (*complete)(struct uw_loop *, struct uw_operation *, int32_t))
{
    struct uw_loop loop;
    int ends[2][2];

    CHECK_EQUAL(0, uw_loop_open(&loop, "epoll", NULL));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(0, uw_socket_pair(ends[i]));
        CHECK_EQUAL(1, write(ends[i][1], "x", 1));
        polls[i] = (struct uw_operation){.opcode = UW_POLL, .fd = ends[i][0], .length = POLLIN, .complete = complete};
        uw_submit(&loop, &polls[i]);
    }
    CHECK(forbid_call(SYS_epoll_create1));
    while (polls[0].pending || polls[1].pending)
        CHECK_EQUAL(0, uw_loop_turn(&loop, TURN_NS));
    CHECK(ended[0] == 1 && ended[1] == 1);
    uw_loop_close(&loop);
}

static void end_by_cancelling(void)
{
    end_one_of_two(cancel_the_other);
}

static void end_by_closing(void)
{
    end_one_of_two(close_the_other);
}

static void open_without_room(void)
{
    struct uw_loop loop;

    CHECK(make_calls_fail(SYS_epoll_ctl, SYS_epoll_ctl, ENOSPC));
    CHECK_EQUAL(-ENOSPC, uw_loop_open(&loop, "epoll", NULL));
}

/* As what is forbidden there is so for good. */
static void in_child(void (*play)(void))
{
    pid_t child;
    int status;

    if (!can_make_calls_fail())
        SKIP(CALLS_CANNOT_FAIL);
    child = fork();
    if (child == 0) {
        play();
        _exit(0);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(who_is_cancelled_in_the_turn_of_its_event_is_left_by_nobody)
{
    in_child(end_by_cancelling);
}

TEST(who_is_closed_in_the_turn_of_its_event_is_left_by_nobody)
{
    in_child(end_by_closing);
}

/* As where a user may wait for no more descriptors: see max_user_watches in `man 7 epoll`. */
TEST(a_loop_that_nothing_could_wake_is_not_opened)
{
    in_child(open_without_room);
}
#endif

TEST_MAIN
