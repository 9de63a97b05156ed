/* The queue between the loop's thread and the threads that run the application: complete requests, first in, first out.
 * Its length is bounded by the number of connections, each of which has at most one request in progress. */
#ifndef UW_SERVER_QUEUE_H
#define UW_SERVER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

struct uw_request;

struct uw_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct uw_request *first, **last;
    unsigned length;
    unsigned waiting; /* workers in uw_queue_wait */
    bool waking;      /* one of them has been signalled and has not come yet: no need to signal more */
    bool closed;
};

/* One thread that takes requests. */
struct uw_worker {
    bool interrupted;
    bool woken; /* it was signalled, and has not come to take anything yet */
};

/* Returns 0 or -errno. */
int uw_queue_init(struct uw_queue *queue);
void uw_queue_free(struct uw_queue *queue);

void uw_queue_push(struct uw_queue *queue, struct uw_request *request);

/* Waits until there is something in the queue, it is closed, or uw_queue_interrupt was called with the same worker.
 * Takes nothing: who has the interpreter's lock next takes the request, so a running thread goes on while the woken one
 * still waits for that lock. */
void uw_queue_wait(struct uw_queue *queue, struct uw_worker *worker);

/* The first request, or NULL when there is none now. */
struct uw_request *uw_queue_take(struct uw_queue *queue, struct uw_worker *worker);

/* The worker takes no more: if it was signalled, another one is. */
void uw_queue_retire(struct uw_queue *queue, struct uw_worker *worker);

/* Ends the wait of one worker. Any thread. */
void uw_queue_interrupt(struct uw_queue *queue, struct uw_worker *worker);

/* No thread waits any more; what is in the queue can still be taken. */
void uw_queue_close(struct uw_queue *queue);

#endif
