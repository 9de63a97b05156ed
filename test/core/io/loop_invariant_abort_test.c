/* A breach of an invariant of the loop ends the program in a checked build. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "io/backend.h"

#define SECONDS_MAX 10

static void ignore(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)operation, (void)result;
}

/* The assertion's message is expected here. */
static void discard_stderr(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
}

static void submit(const char *backend, unsigned times)
{
    struct uw_operation operation = {.opcode = UW_POLL, .length = POLLIN, .complete = ignore};
    struct uw_loop loop;
    int ends[2];

    discard_stderr();
    (void)alarm(SECONDS_MAX); /* without the check, a loop never ends its list of operations */
    if (uw_loop_open(&loop, backend, NULL) || pipe(ends))
        _exit(EXIT_FAILURE);
    operation.fd = ends[0];
    while (times--)
        uw_submit(&loop, &operation);
    uw_loop_close(&loop);
    _exit(EXIT_SUCCESS);
}

/* The wait status of a child process that submits one operation so many times. */
static int status_of_submitting(const char *backend, unsigned times)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        submit(backend, times);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

TEST(a_pending_operation_may_not_be_submitted)
{
#ifndef UW_CHECK_INVARIANTS
    SKIP("invariants are not checked in this build");
#endif
    for (const struct uw_backend *const *backend = uw_backends; *backend; backend++) {
        int once = status_of_submitting((*backend)->name, 1), twice = status_of_submitting((*backend)->name, 2);

        if (WIFEXITED(once) && WEXITSTATUS(once) == EXIT_FAILURE)
            continue; /* this kernel refuses the backend */
        CHECK_EQUAL(0, once);
        CHECK(WIFSIGNALED(twice) && WTERMSIG(twice) == SIGABRT);
    }
}

TEST_MAIN
