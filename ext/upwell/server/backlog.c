#include "server/backlog.h"

#include "push/client.h"

#define FOLLOWING_MAX 256 /* messages that join a batch: then the loop has its turn */

void rb_uw_backlog_init(struct rb_uw_backlog *backlog)
{
    backlog->ready = (struct rb_uw_requests){NULL, &backlog->ready.first};
    backlog->batch = (struct rb_uw_requests){NULL, &backlog->batch.first};
}

static void append(struct rb_uw_requests *requests, struct uw_request *request)
{
    request->next = NULL;
    *requests->last = request;
    requests->last = &request->next;
}

/* Of a client that has sent several, whose next becomes ready as the one before has been served: what is answered to
 * them leaves in one piece. Other events the application can make without end. */
static bool follows(struct rb_uw_backlog *backlog, const struct uw_request *request)
{
    bool message = request->client_event == UW_CLIENT_TEXT || request->client_event == UW_CLIENT_BINARY;

    if (!message || !backlog->following_left)
        return false;
    backlog->following_left--;
    return true;
}

void rb_uw_backlog_add(struct rb_uw_backlog *backlog, struct uw_request *request)
{
    append(follows(backlog, request) ? &backlog->batch : &backlog->ready, request);
}

void rb_uw_backlog_begin_batch(struct rb_uw_backlog *backlog)
{
    if (!backlog->ready.first)
        return;
    *backlog->batch.last = backlog->ready.first;
    backlog->batch.last = backlog->ready.last;
    backlog->ready = (struct rb_uw_requests){NULL, &backlog->ready.first};
    backlog->following_left = FOLLOWING_MAX;
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

void rb_uw_backlog_end_batch(struct rb_uw_backlog *backlog)
{
    backlog->following_left = 0;
}
