/* Requests that wait for the application, where it runs on the loop's thread: what is ready now has its turn; what it
 * makes ready, after the loop's, but for some messages of clients that stay. */
#ifndef RB_UPWELL_BACKLOG_H
#define RB_UPWELL_BACKLOG_H

#include "server/server.h"

struct rb_uw_requests {
    struct uw_request *first, **last;
};

struct rb_uw_backlog {
    struct rb_uw_requests ready, batch; /* what the loop brought, and of it what has its turn */
    unsigned following_left;            /* messages that may join the batch */
};

void rb_uw_backlog_init(struct rb_uw_backlog *backlog);
void rb_uw_backlog_add(struct rb_uw_backlog *backlog, struct uw_request *request);
void rb_uw_backlog_begin_batch(struct rb_uw_backlog *backlog);

/* The loop has its turn: what it brings from now on is ready, but has none yet. */
void rb_uw_backlog_end_batch(struct rb_uw_backlog *backlog);

/* The next of the batch, or NULL. */
struct uw_request *rb_uw_backlog_take(struct rb_uw_backlog *backlog);

#endif
