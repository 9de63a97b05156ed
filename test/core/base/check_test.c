/* What the tests are made of. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void fail_in_a_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(EXIT_SUCCESS);
        CHECK(child != 0);
        CHECK_EQUAL(1, child);
        _exit(EXIT_SUCCESS);
    }
    CHECK_EQUAL(child, waitpid(child, NULL, 0));
}

TEST(what_fails_in_a_forked_process_has_failed)
{
    int before = check_failures, failed;

    fail_in_a_child();
    failed = check_failures - before;
    check_failures = before; /* they were wanted */
    CHECK_EQUAL(2, failed);
}

TEST_MAIN
