/* Background jobs for file work that would block the loop for too long. Another thread runs one step of each job in
 * turn. The loop's thread gets the result. Each loop has one such thread, started with the first job. */
#ifndef UW_STATIC_BACKGROUND_JOBS_H
#define UW_STATIC_BACKGROUND_JOBS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "io/loop.h"

/* The owner embeds a job and must not touch it until `done` is called or the jobs are stopped. */
struct uw_background_job {
    bool (*step)(struct uw_background_job *job); /* runs on the other thread; returns whether more steps remain */
    void (*done)(struct uw_background_job *job); /* on the loop's */
    struct uw_message message;
    struct uw_list link;
};

struct uw_background_jobs {
    struct uw_loop *loop; /* the owner sets this once, before the first job */
    pid_t process;        /* the process that started the thread; 0 without a thread */
    pthread_t thread;
    pthread_mutex_t lock; /* for the members below */
    pthread_cond_t changed;
    struct uw_list waiting;
    bool stops;
};

/* Returns 0 or -errno. */
int uw_background_jobs_open(struct uw_background_jobs *jobs);

/* Queues a job, on the loop's thread. Returns 0. When no thread can be started or the jobs are stopped, returns an
 * -errno, and the job will not run. */
int uw_background_jobs_add(struct uw_background_jobs *jobs, struct uw_background_job *job);

/* Stops the thread after the current step; call this before the loop is closed. `done` still runs for finished jobs,
 * and never for the others. A second call does nothing. */
void uw_background_jobs_stop(struct uw_background_jobs *jobs);

void uw_background_jobs_close(struct uw_background_jobs *jobs);

#endif
