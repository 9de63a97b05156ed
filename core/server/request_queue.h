/* The queue between the loop's thread and the threads that run the application: complete requests, first in, first out.
 * Its length is bounded by the number of connections, each of which has at most one request in progress.
 *
 * Of these threads one alone can compute at a time. So while one does that will soon come for the next request, no
 * other is called: the two would only take the lock from each other, at each little thing that is done without it. */
#ifndef UW_SERVER_REQUEST_QUEUE_H
#define UW_SERVER_REQUEST_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/list.h"

#define UW_SOON_NS (10 * UW_NS_PER_MS)  /* who computes longer than this is not waited for */
#define UW_WAIT_NS (100 * UW_NS_PER_US) /* who waits longer than this will do so in its next request, too */
#define UW_LOOK_NS (2 * UW_NS_PER_MS)   /* how often somebody who waits asks whether that one still computes */

struct uw_request;

struct uw_queue {
    pthread_mutex_t lock;
    struct uw_request *first, **last;
    unsigned length;
    struct uw_list workers; /* all of them */
    atomic_int computing;   /* how many of those that have a request compute */
    struct uw_list idle;    /* who waits: the last to come is the first to be called, since its caches are warm */
    bool calling;           /* one of them was called and has not come yet: no need to call more */
    bool looking;           /* one that waits looks whether it is needed after all */
    bool closed;
};

/* One thread that takes requests. */
struct uw_worker {
    struct uw_list link, idle;
    struct uw_queue *queue;
    pthread_cond_t woken;
    bool interrupted;
    bool called; /* and has not come to take anything yet */
    bool looks;
    bool waited_before; /* in its request before this one */
    /* Of the request that it has; any thread reads these. */
    atomic_bool computes;
    atomic_bool waited;       /* for long, while nobody computed */
    _Atomic int64_t began_ns; /* 0: it has none */
    _Atomic int64_t left_ns;  /* when it last ceased to compute */
};

/* Returns 0 or -errno. */
int uw_queue_init(struct uw_queue *queue);
void uw_queue_free(struct uw_queue *queue);

/* On the worker's thread, like what follows to uw_queue_wait. Returns 0 or -errno. */
int uw_queue_join(struct uw_queue *queue, struct uw_worker *worker);

/* The worker takes no more: if it was called, another one is. */
void uw_queue_retire(struct uw_queue *queue, struct uw_worker *worker);

/* The first request, or NULL when there is none now, or none for this worker: then uw_queue_wait is to follow. */
struct uw_request *uw_queue_take(struct uw_queue *queue, struct uw_worker *worker);

/* Waits until the worker is called, the queue is closed, or uw_queue_interrupt was called with the same worker. Takes
 * nothing: who has the interpreter's lock next takes the request, so a running thread goes on while the one that was
 * called still waits for that lock. */
void uw_queue_wait(struct uw_queue *queue, struct uw_worker *worker);

/* What is known of the worker: that it waits for something, or does what others need not wait for; that it computes, or
 * will as soon as it can. Of whom nothing is told nobody relies on. Any thread, but one at a time. */
void uw_worker_leaves(struct uw_worker *worker);
void uw_worker_computes(struct uw_worker *worker);

/* Ends the wait of one worker. Any thread. */
void uw_queue_interrupt(struct uw_queue *queue, struct uw_worker *worker);

void uw_queue_push(struct uw_queue *queue, struct uw_request *request);

/* No thread waits any more; what is in the queue can still be taken. */
void uw_queue_close(struct uw_queue *queue);

#endif
