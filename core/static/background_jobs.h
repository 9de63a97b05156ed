/* Background jobs do file work that would block the loop for too long. A second thread runs one step of each job in
 * turn. The loop's thread gets the result. Each loop has one such thread, which starts with the first job. */
#ifndef UW_STATIC_BACKGROUND_JOBS_H
#define UW_STATIC_BACKGROUND_JOBS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "io/loop.h"

/* A job is embedded in its owner. The owner must not use the job until `done` is called or the jobs are stopped. */
struct uw_background_job {
    /* Runs on the jobs' thread. Returns true if more steps remain. */
    bool (*step)(struct uw_background_job *job);
    void (*done)(struct uw_background_job *job); /* runs on the loop's thread */
    struct uw_message message;
    struct uw_list link;
};

struct uw_background_jobs {
    struct uw_loop *loop; /* set once by the owner, before the first job */
    pid_t thread_process; /* process that has started the thread, or 0 without a thread */
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    struct uw_list waiting;
    bool stopped;
};

/* Returns 0 or -errno. */
int uw_background_jobs_open(struct uw_background_jobs *jobs);

/* Queues a job. Called by the loop's thread. Returns 0, or -errno if the thread cannot start or the jobs are stopped.
 * After an error the job will not run. */
int uw_background_jobs_add(struct uw_background_jobs *jobs, struct uw_background_job *job);

/* Stops the thread after its current step. Must be called before the loop is closed. `done` still runs for finished
 * jobs, but not for other jobs. A second call does nothing. */
void uw_background_jobs_stop(struct uw_background_jobs *jobs);

void uw_background_jobs_close(struct uw_background_jobs *jobs);

#endif
