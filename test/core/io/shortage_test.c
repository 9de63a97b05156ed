/* What a loop is opened on when descriptors run out. */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "io/backend.h"

#define DESCRIPTORS 64
#define ENOUGH 8 /* for any loop */

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

TEST_MAIN
