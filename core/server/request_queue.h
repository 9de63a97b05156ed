/* The queue between the loop's thread and the application's threads: complete requests, first in, first out. The number
 * of connections bounds its length, since each has at most one request in progress.
 *
 * Only one of the threads can compute at a time. So no other thread is called while the computing thread will soon take
 * the next request. Two threads would only take the lock from each other at each short operation without the lock. */
#ifndef UW_SERVER_REQUEST_QUEUE_H
#define UW_SERVER_REQUEST_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/list.h"

#define UW_SOON_NS (10 * UW_NS_PER_MS)  /* a worker that computes longer is not expected soon */
#define UW_WAIT_NS (100 * UW_NS_PER_US) /* a worker that waits longer is expected to wait in its next request, too */
#define UW_LOOK_NS (2 * UW_NS_PER_MS)   /* interval at which an idle worker checks whether the other still computes */

struct uw_request;

struct uw_queue {
    pthread_mutex_t lock;
    struct uw_request *first, **last;
    unsigned length;
    struct uw_list workers; /* all of them */
    atomic_int computing;   /* how many of those that have a request compute */
    struct uw_list idle;    /* waiting workers; the last one is called first, since its caches are warm */
    bool calling;           /* a called worker does not run yet: no need to call another */
    bool looking;           /* an idle worker checks at intervals whether it is needed */
    bool closed;
};

/* A thread that takes requests. */
struct uw_worker {
    struct uw_list link, idle;
    struct uw_queue *queue;
    pthread_cond_t woken;
    bool interrupted;
    bool called; /* and does not run yet */
    bool looks;
    bool waited_before; /* in its request before this one */
    /* The worker's state in its current request; any thread reads these. */
    atomic_bool computes;
    atomic_bool waited;       /* for long, while no other worker computed */
    _Atomic int64_t began_ns; /* 0: it has none */
    _Atomic int64_t left_ns;  /* when it last ceased to compute */
};

/* Returns 0 or -errno. */
int uw_queue_init(struct uw_queue *queue);
void uw_queue_free(struct uw_queue *queue);

/* Registers a worker. On the worker's thread, like the functions up to uw_queue_wait. Returns 0 or -errno. */
int uw_queue_join(struct uw_queue *queue, struct uw_worker *worker);

/* The worker takes no more requests. If it was called, another one is called instead. */
void uw_queue_retire(struct uw_queue *queue, struct uw_worker *worker);

/* Returns the first request. Returns NULL when the queue is empty or another worker will soon take it: then call
 * uw_queue_wait. */
struct uw_request *uw_queue_take(struct uw_queue *queue, struct uw_worker *worker);

/* Waits until the worker is called, the queue is closed, or uw_queue_interrupt was called with the same worker. Takes
 * no request: the next thread with the interpreter's lock takes it. So a running thread continues while the called one
 * still waits for that lock. */
void uw_queue_wait(struct uw_queue *queue, struct uw_worker *worker);

/* Report a worker's state. uw_worker_leaves: the worker waits, or needs no interpreter lock. uw_worker_computes: the
 * worker runs, or will run as soon as it can. A worker without reports is never expected soon. Any thread, but one at a
 * time. */
void uw_worker_leaves(struct uw_worker *worker);
void uw_worker_computes(struct uw_worker *worker);

/* Ends the wait of one worker. Any thread. */
void uw_queue_interrupt(struct uw_queue *queue, struct uw_worker *worker);

void uw_queue_push(struct uw_queue *queue, struct uw_request *request);

/* Ends all waits. Workers can still take the requests in the queue. */
void uw_queue_close(struct uw_queue *queue);

#endif
