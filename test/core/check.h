/* A test program in one header: TEST(name) { ... CHECK(...) ... } as often as wanted, then TEST_MAIN. */
#ifndef UW_TEST_CHECK_H
#define UW_TEST_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include "skipped_tests.h"
#else
#include <sys/mman.h>

/* Why a test means nothing on this system; or NULL. */
static inline const char *what_it_lacks(const char *program, const char *test)
{
    (void)program, (void)test;
    return NULL;
}
#endif

#define CHECK_TESTS_MAX 200
#define CHECK_EXIT_FAILED 4 /* no sanitizer, no valgrind and no abort ends a program so: its counts are complete */

struct check_test {
    const char *name;
    void (*run)(void);
};

static struct check_test check_tests[CHECK_TESTS_MAX];
static int check_test_count;
static const char *check_skip_reason;

/* What fails in a process that a test forks has failed. */
static _Atomic int check_failures_alone, *check_failures_of_all = &check_failures_alone;
#define check_failures (*check_failures_of_all)

#define TEST(test_name) \
    static void test_name(void); \
    __attribute__((constructor)) static void test_name##_register(void) \
    { \
        check_tests[check_test_count++] = (struct check_test){#test_name, test_name}; \
    } \
    static void test_name(void)

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            check_failures++; \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
        } \
    } while (0)

#define CHECK_EQUAL(expected, actual) \
    do { \
        intmax_t check_expected = (intmax_t)(expected), check_actual = (intmax_t)(actual); \
        if (check_expected != check_actual) { \
            check_failures++; \
            printf("%s:%d: %s: expected %" PRIdMAX ", got %" PRIdMAX "\n", __FILE__, __LINE__, #actual, \
                   check_expected, check_actual); \
        } \
    } while (0)

/* Leaves the test as skipped: for a kernel feature that is missing here, never for a failure. */
#define SKIP(reason) \
    do { \
        check_skip_reason = (reason); \
        return; \
    } while (0)

/* Without folders, and Windows' extension. */
static inline const char *check_program(const char *path)
{
    static char program[64];
    const char *name = path;

    for (; *path; path++)
        if (*path == '/' || *path == '\\')
            name = path + 1;
    if (snprintf(program, sizeof program, "%.*s", (int)strcspn(name, "."), name) >= (int)sizeof program)
        abort();
    return program;
}

/* Nothing is told twice after a fork, nor lost with a kill; before anything is told. */
__attribute__((constructor)) static void check_tell_at_once(void)
{
#ifdef _WIN32
    int error = setvbuf(stdout, NULL, _IONBF, 0); /* by lines is as a whole there */
#else
    int error = setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
#endif
    if (error)
        abort();
}

__attribute__((constructor)) static void check_share_failures(void)
{
#ifndef _WIN32
    check_failures_of_all =
        mmap(NULL, sizeof *check_failures_of_all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (check_failures_of_all == MAP_FAILED)
        abort();
#endif
}

/* Runs every test whose name contains argv[1], or all. The last line is "N passed, N failed, N skipped". */
static inline int check_main(const char *program, const char *filter)
{
    int passed = 0, failed = 0, skipped = 0;

    for (int i = 0; i < check_test_count; i++) {
        int failures = check_failures;

        if (filter && !strstr(check_tests[i].name, filter))
            continue;
        check_skip_reason = what_it_lacks(program, check_tests[i].name);
        if (!check_skip_reason)
            check_tests[i].run();
        if (check_failures > failures) {
            printf("FAILED %s %s\n", program, check_tests[i].name);
            failed++;
        } else if (check_skip_reason) {
            printf("skipped %s %s: %s\n", program, check_tests[i].name, check_skip_reason);
            skipped++;
        } else {
            passed++;
        }
    }
    printf("%s: %d passed, %d failed, %d skipped\n", program, passed, failed, skipped);
    return failed > 0 ? CHECK_EXIT_FAILED : 0;
}

#define TEST_MAIN \
    int main(int argc, char **argv) \
    { \
        return check_main(check_program(argv[0]), argc > 1 ? argv[1] : NULL); \
    }

#endif
