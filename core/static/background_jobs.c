#include "static/background_jobs.h"

#include <errno.h>
#include <unistd.h>

#include "base/thread.h"

int uw_background_jobs_open(struct uw_background_jobs *jobs)
{
    int error;

    *jobs = (struct uw_background_jobs){.loop = NULL};
    uw_list_init(&jobs->waiting);
    error = pthread_mutex_init(&jobs->lock, NULL);
    if (error)
        return -error;
    error = pthread_cond_init(&jobs->changed, NULL);
    if (error)
        pthread_mutex_destroy(&jobs->lock);
    return -error;
}

static void arrive(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_background_job *job = uw_container_of(message, struct uw_background_job, message);

    (void)loop;
    job->done(job);
}

/* Waits for the next job; returns NULL when the jobs are stopped. The caller holds the lock. */
static struct uw_background_job *await_job(struct uw_background_jobs *jobs)
{
    struct uw_background_job *job;

    while (uw_list_empty(&jobs->waiting) && !jobs->stops)
        pthread_cond_wait(&jobs->changed, &jobs->lock);
    if (jobs->stops)
        return NULL;
    job = uw_container_of(jobs->waiting.next, struct uw_background_job, link);
    uw_list_remove(&job->link);
    return job;
}

static void *run(void *argument)
{
    struct uw_background_jobs *jobs = argument;
    struct uw_background_job *job;

    pthread_mutex_lock(&jobs->lock);
    while ((job = await_job(jobs))) {
        bool more;

        pthread_mutex_unlock(&jobs->lock);
        more = job->step(job);
        pthread_mutex_lock(&jobs->lock);
        if (more)
            uw_list_append(&jobs->waiting, &job->link);
        else
            uw_loop_post(jobs->loop, &job->message);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

int uw_background_jobs_add(struct uw_background_jobs *jobs, struct uw_background_job *job)
{
    if (jobs->stops)
        return -ECANCELED;
    UW_ASSERT_OWNER(jobs->loop);
    if (!jobs->process) {
        int error = uw_thread_start(&jobs->thread, run, jobs);

        if (error)
            return error;
        jobs->process = getpid();
    }
    job->message.receive = arrive;
    pthread_mutex_lock(&jobs->lock);
    uw_list_append(&jobs->waiting, &job->link);
    pthread_cond_signal(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    return 0;
}

/* The child of a fork has a copy of everything but the thread, which may have had the lock. */
static bool is_copy(const struct uw_background_jobs *jobs)
{
    return jobs->process && jobs->process != getpid();
}

void uw_background_jobs_stop(struct uw_background_jobs *jobs)
{
    if (is_copy(jobs))
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->stops = true;
    pthread_cond_signal(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    if (jobs->process)
        (void)pthread_join(jobs->thread, NULL);
    jobs->process = 0;
}

void uw_background_jobs_close(struct uw_background_jobs *jobs)
{
    uw_background_jobs_stop(jobs);
    if (is_copy(jobs))
        return;
    pthread_cond_destroy(&jobs->changed);
    pthread_mutex_destroy(&jobs->lock);
}
