#include "static/background_jobs.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "io/backend.h"

#define STEPS 5

struct count {
    struct uw_background_job job;
    int left; /* steps; -1: there is always one more */
    atomic_bool began;
    bool done;
};

static struct uw_loop loop;
static struct uw_background_jobs jobs;
static pthread_t loop_thread;
static struct count *order[2 * STEPS];
static int steps;

static bool step(struct uw_background_job *job)
{
    struct count *count = uw_container_of(job, struct count, job);

    CHECK(!pthread_equal(pthread_self(), loop_thread));
    atomic_store(&count->began, true);
    if (count->left < 0)
        return true;
    order[steps++] = count;
    return --count->left > 0;
}

/* Blocks the thread until the test releases it. */
static atomic_bool let_go;

static bool wait_at_gate(struct uw_background_job *job)
{
    (void)job;
    while (!atomic_load(&let_go))
        CHECK_EQUAL(0, usleep(1000));
    return false;
}

static void done(struct uw_background_job *job)
{
    CHECK(pthread_equal(pthread_self(), loop_thread));
    uw_container_of(job, struct count, job)->done = true;
}

static struct count count_of(int left)
{
    return (struct count){.job = {.step = step, .done = done}, .left = left};
}

static void open_errands(void)
{
    CHECK_EQUAL(0, uw_loop_open(&loop, "poll", NULL));
    CHECK_EQUAL(0, uw_background_jobs_open(&jobs));
    jobs.loop = &loop;
    loop_thread = pthread_self();
    steps = 0;
}

static void close_errands(void)
{
    uw_background_jobs_close(&jobs);
    uw_loop_close(&loop);
}

TEST(errands_take_turns_and_are_told_on_the_loops_thread)
{
    struct count gate = count_of(0), one = count_of(STEPS), other = count_of(STEPS);

    open_errands();
    gate.job.step = wait_at_gate;
    atomic_store(&let_go, false);
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &gate.job));
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &one.job));
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &other.job));
    atomic_store(&let_go, true);
    while (!gate.done || !one.done || !other.done)
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_FOREVER));
    CHECK_EQUAL(2 * STEPS, steps);
    for (int i = 0; i < 2 * STEPS; i++)
        CHECK(order[i] == (i % 2 == 0 ? &one : &other));
    close_errands();
}

TEST(who_stops_waits_for_no_more_than_a_step)
{
    struct count endless = count_of(-1), late = count_of(1);

    open_errands();
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &endless.job));
    while (!atomic_load(&endless.began))
        CHECK_EQUAL(0, usleep(1000));
    uw_background_jobs_stop(&jobs);
    uw_background_jobs_stop(&jobs);
    CHECK_EQUAL(-ECANCELED, uw_background_jobs_add(&jobs, &late.job));
    uw_loop_receive(&loop);
    CHECK(!endless.done && !late.done);
    close_errands();
}

TEST(what_is_done_when_stopped_is_still_told)
{
    struct count one = count_of(1);

    open_errands();
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &one.job));
    while (!atomic_load(&loop.posted))
        CHECK_EQUAL(0, usleep(1000));
    uw_background_jobs_stop(&jobs);
    uw_loop_receive(&loop);
    CHECK(one.done);
    close_errands();
}

/* It has no thread to wait for, and the lock may be anybody's. */
TEST(a_child_closes_its_copy)
{
    struct count endless = count_of(-1);
    int status = -1;
    pid_t child;

    open_errands();
    CHECK_EQUAL(0, uw_background_jobs_add(&jobs, &endless.job));
    child = fork();
    if (child == 0) {
        alarm(60);
        uw_background_jobs_close(&jobs);
        _exit(EXIT_SUCCESS);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    close_errands();
}

TEST_MAIN
