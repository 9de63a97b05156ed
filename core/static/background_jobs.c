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

static void finish_job(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_background_job *job = uw_container_of(message, struct uw_background_job, message);

    (void)loop;
    job->done(job);
}

/* Waits for the next job. Returns NULL after uw_background_jobs_stop. The caller holds the lock. */
static struct uw_background_job *await_job(struct uw_background_jobs *jobs)
{
    struct uw_background_job *job;

    while (uw_list_empty(&jobs->waiting) && !jobs->stopped)
        pthread_cond_wait(&jobs->changed, &jobs->lock);
    if (jobs->stopped)
        return NULL;
    job = uw_container_of(jobs->waiting.next, struct uw_background_job, link);
    uw_list_remove(&job->link);
    return job;
}

static void *run_jobs(void *argument)
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
    if (jobs->stopped)
        return -ECANCELED;
    UW_ASSERT_OWNER(jobs->loop);
    if (!jobs->thread_process) {
        int error = uw_thread_start(&jobs->thread, run_jobs, jobs);

        if (error)
            return error;
        jobs->thread_process = getpid();
    }
    job->message.receive = finish_job;
    pthread_mutex_lock(&jobs->lock);
    uw_list_append(&jobs->waiting, &job->link);
    pthread_cond_signal(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    return 0;
}

/* A child process after fork(2) has a copy of the jobs, but not the thread. The thread may have held the lock. */
static bool is_copy_of_parent(const struct uw_background_jobs *jobs)
{
    return jobs->thread_process && jobs->thread_process != getpid();
}

void uw_background_jobs_stop(struct uw_background_jobs *jobs)
{
    if (is_copy_of_parent(jobs))
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->stopped = true;
    pthread_cond_signal(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    if (jobs->thread_process)
        (void)pthread_join(jobs->thread, NULL);
    jobs->thread_process = 0;
}

void uw_background_jobs_close(struct uw_background_jobs *jobs)
{
    uw_background_jobs_stop(jobs);
    if (is_copy_of_parent(jobs))
        return;
    pthread_cond_destroy(&jobs->changed);
    pthread_mutex_destroy(&jobs->lock);
}
