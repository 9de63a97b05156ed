#include "static/fd_exhaustion_retry.h"

#include <time.h>

#include "base/fd_limit.h"
#include "server/server.h"

static void clear(struct uw_fd_retry *shortage)
{
    shortage->first = NULL;
    shortage->last = &shortage->first;
}

static bool pause_a_while(struct uw_background_job *job)
{
    struct timespec pause = {.tv_nsec = UW_FD_RETRY_PAUSE_NS};

    (void)job;
    (void)nanosleep(&pause, NULL); /* a signal only makes the retry earlier */
    return false;
}

/* Requests that fail again wait again. */
static void ask_again(struct uw_background_job *job)
{
    struct uw_fd_retry *shortage = uw_container_of(job, struct uw_fd_retry, pause);
    struct uw_request *request = shortage->first, *next;

    shortage->pauses = false;
    clear(shortage);
    for (; request; request = next) {
        struct uw_handler *handler = &request->server_context->handler;

        next = request->next;
        handler->notify(handler->context, request, UW_EVENT_REQUEST);
    }
    if (!shortage->first)
        shortage->end_ns = 0;
}

void uw_fd_retry_open(struct uw_fd_retry *shortage, struct uw_background_jobs *jobs)
{
    *shortage = (struct uw_fd_retry){.jobs = jobs, .pause = {.step = pause_a_while, .done = ask_again}};
    clear(shortage);
}

/* Whether another retry follows. */
static bool begin(struct uw_fd_retry *shortage, int64_t now_ns)
{
    if (!shortage->end_ns)
        shortage->end_ns = now_ns + UW_FD_RETRY_NS;
    if (!shortage->pauses && now_ns < shortage->end_ns)
        shortage->pauses = uw_background_jobs_add(shortage->jobs, &shortage->pause) == 0;
    return shortage->pauses;
}

bool uw_fd_retry_add(struct uw_fd_retry *shortage, struct uw_request *request, int error)
{
    if (!uw_fd_limit_reached(error) || !begin(shortage, request->server_context->loop.now_ns))
        return false;
    request->next = NULL;
    *shortage->last = request;
    shortage->last = &request->next;
    return true;
}
