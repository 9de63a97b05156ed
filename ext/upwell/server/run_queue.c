#include "server/run_queue.h"

#include "push/push_client.h"

#define FOLLOWING_MAX 256 /* messages that may join a batch; then the loop runs an iteration */

void rb_uw_run_queue_init(struct rb_uw_run_queue *backlog)
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

/* A client's next message becomes ready once the one before has been served. It joins the batch, so that the responses
 * are sent in one piece. Other events do not join, since the application can produce them without end. */
static bool follows(struct rb_uw_run_queue *backlog, const struct uw_request *request)
{
    bool message = request->client_event == UW_PUSH_TEXT || request->client_event == UW_PUSH_BINARY;

    if (!message || !backlog->following_left)
        return false;
    backlog->following_left--;
    return true;
}

void rb_uw_run_queue_add(struct rb_uw_run_queue *backlog, struct uw_request *request)
{
    append(follows(backlog, request) ? &backlog->batch : &backlog->ready, request);
}

void rb_uw_run_queue_begin_batch(struct rb_uw_run_queue *backlog)
{
    if (!backlog->ready.first)
        return;
    *backlog->batch.last = backlog->ready.first;
    backlog->batch.last = backlog->ready.last;
    backlog->ready = (struct rb_uw_requests){NULL, &backlog->ready.first};
    backlog->following_left = FOLLOWING_MAX;
}

struct uw_request *rb_uw_run_queue_take(struct rb_uw_run_queue *backlog)
{
    struct uw_request *request = backlog->batch.first;

    if (!request)
        return NULL;
    backlog->batch.first = request->next;
    if (!backlog->batch.first)
        backlog->batch.last = &backlog->batch.first;
    return request;
}

void rb_uw_run_queue_end_batch(struct rb_uw_run_queue *backlog)
{
    backlog->following_left = 0;
}
