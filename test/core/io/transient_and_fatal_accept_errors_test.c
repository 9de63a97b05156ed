/* What accept fails of. */
#include "check.h"

#ifdef __linux__
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/backend.h"
#include "seccomp_faults.h"
#include "server/loopback_sockets.h"

#define TURNS 3
#define LONG_ENOUGH_NS UW_NS_PER_SECOND /* to be told of what is there already; a failure is told at once */

static int results, last_result;

static void note(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)operation;
    results++;
    last_result = result;
}

/* As a network makes it that is down, or a kernel that is asked for too much. */
static void accept_in_child(const char *backend, int error, void (*check)(const struct uw_operation *, int))
{
    int listener = listen_on_loopback(), client = connect_to(listener), status;
    pid_t child = fork();

    if (child == 0) {
        struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = listener, .complete = note};
        struct uw_loop loop;

        CHECK_EQUAL(0, uw_loop_open(&loop, backend, NULL));
        uw_submit(&loop, &accept);
        CHECK(make_calls_fail(SYS_accept, SYS_accept4, (uint32_t)error));
        for (int i = 0; i < TURNS && results == 0; i++)
            CHECK_EQUAL(0, uw_loop_turn(&loop, LONG_ENOUGH_NS));
        check(&accept, error);
        _exit(0);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(client);
    close(listener);
}

static void goes_on(const struct uw_operation *accept, int error)
{
    (void)error;
    CHECK_EQUAL(0, results);
    CHECK(accept->pending);
}

static void has_ended(const struct uw_operation *accept, int error)
{
    CHECK_EQUAL(1, results);
    CHECK_EQUAL(-error, last_result);
    CHECK(!accept->pending);
}

/* Not by io_uring: its accept is no call that can be made fail. */
static void accept_by_calls(int error, void (*check)(const struct uw_operation *, int))
{
    for (size_t i = 0; uw_backends[i]; i++)
        if (uw_backends[i]->interest)
            accept_in_child(uw_backends[i]->name, error, check);
}

TEST(a_client_who_cannot_be_accepted_keeps_nobody_else_out)
{
    static const int errors[] = {ECONNABORTED, EPROTO,    ENOPROTOOPT, ENETDOWN, ENETUNREACH,
                                 EHOSTUNREACH, EHOSTDOWN, ENONET,      ETIMEDOUT};

    if (!can_make_calls_fail())
        SKIP(CALLS_CANNOT_FAIL);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        accept_by_calls(errors[i], goes_on);
}

TEST(who_can_accept_nobody_is_told_so)
{
    static const int errors[] = {EINVAL, EOPNOTSUPP, EMFILE, ENOBUFS};

    if (!can_make_calls_fail())
        SKIP(CALLS_CANNOT_FAIL);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        accept_by_calls(errors[i], has_ended);
}
#endif

TEST_MAIN
