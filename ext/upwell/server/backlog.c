#include "server/backlog.h"

void rb_uw_backlog_init(struct rb_uw_backlog *backlog)
{
    backlog->ready = (struct rb_uw_requests){NULL, &backlog->ready.first};
    backlog->batch = (struct rb_uw_requests){NULL, &backlog->batch.first};
}

void rb_uw_backlog_add(struct rb_uw_backlog *backlog, struct uw_request *request)
{
    request->next = NULL;
    *backlog->ready.last = request;
    backlog->ready.last = &request->next;
}

void rb_uw_backlog_begin_batch(struct rb_uw_backlog *backlog)
{
    if (!backlog->ready.first)
        return;
    *backlog->batch.last = backlog->ready.first;
    backlog->batch.last = backlog->ready.last;
    backlog->ready = (struct rb_uw_requests){NULL, &backlog->ready.first};
}

struct uw_request *rb_uw_backlog_take(struct rb_uw_backlog *backlog)
{
    struct uw_request *request = backlog->batch.first;

    if (!request)
        return NULL;
    backlog->batch.first = request->next;
    if (!backlog->batch.first)
        backlog->batch.last = &backlog->batch.first;
    return request;
}
