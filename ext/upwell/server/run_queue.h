/* The run queue of requests, where the application runs on the loop's thread. Requests that are ready now form a batch.
 * Requests that become ready during the batch run after the next iteration, except for some messages of long-lived
 * clients. */
#ifndef RB_UPWELL_RUN_QUEUE_H
#define RB_UPWELL_RUN_QUEUE_H

#include "server/server.h"

struct rb_uw_requests {
    struct uw_request *first, **last;
};

struct rb_uw_run_queue {
    struct rb_uw_requests ready, batch; /* requests from the loop, and the batch being served */
    unsigned following_left;            /* messages that may join the batch */
};

void rb_uw_run_queue_init(struct rb_uw_run_queue *backlog);
void rb_uw_run_queue_add(struct rb_uw_run_queue *backlog, struct uw_request *request);
void rb_uw_run_queue_begin_batch(struct rb_uw_run_queue *backlog);

/* Call this before an iteration: later requests wait in `ready`, and none joins the batch. */
void rb_uw_run_queue_end_batch(struct rb_uw_run_queue *backlog);

/* The next of the batch, or NULL. */
struct uw_request *rb_uw_run_queue_take(struct rb_uw_run_queue *backlog);

#endif
