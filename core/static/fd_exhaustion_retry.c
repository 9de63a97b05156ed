#include "static/fd_exhaustion_retry.h"

#include <time.h>

#include "base/fd_limit.h"
#include "server/server.h"

static void clear_waiting(struct uw_fd_retry *retry)
{
    retry->first = NULL;
    retry->last = &retry->first;
}

static bool sleep_before_retry(struct uw_background_job *job)
{
    struct timespec pause = {.tv_nsec = UW_FD_RETRY_PAUSE_NS};

    (void)job;
    (void)nanosleep(&pause, NULL); /* a signal only makes the retry earlier */
    return false;
}

/* Passes the requests to the handler. A request that fails again waits again. */
static void retry_requests(struct uw_background_job *job)
{
    struct uw_fd_retry *retry = uw_container_of(job, struct uw_fd_retry, pause);
    struct uw_request *request = retry->first, *next;

    retry->pause_is_pending = false;
    clear_waiting(retry);
    for (; request; request = next) {
        struct uw_handler *handler = &request->server_context->handler;

        next = request->next;
        handler->notify(handler->context, request, UW_EVENT_REQUEST);
    }
    if (!retry->first)
        retry->end_ns = 0;
}

void uw_fd_retry_open(struct uw_fd_retry *retry, struct uw_background_jobs *jobs)
{
    *retry = (struct uw_fd_retry){.jobs = jobs, .pause = {.step = sleep_before_retry, .done = retry_requests}};
    clear_waiting(retry);
}

/* Starts a pause, unless one is pending. Returns false if no retry follows. */
static bool begin_pause(struct uw_fd_retry *retry, int64_t now_ns)
{
    if (!retry->end_ns)
        retry->end_ns = now_ns + UW_FD_RETRY_NS;
    if (!retry->pause_is_pending && now_ns < retry->end_ns)
        retry->pause_is_pending = uw_background_jobs_add(retry->jobs, &retry->pause) == 0;
    return retry->pause_is_pending;
}

bool uw_fd_retry_add(struct uw_fd_retry *retry, struct uw_request *request, int error)
{
    if (!uw_fd_limit_reached(error) || !begin_pause(retry, request->server_context->loop.now_ns))
        return false;
    request->next = NULL;
    *retry->last = request;
    retry->last = &request->next;
    return true;
}
