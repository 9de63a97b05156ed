#include "server/reactor_public_files.h"

#include "server/access_record.h"
#include "server/health.h"
#include "server/request_metrics.h"

void rb_uw_reactor_open_files(struct rb_uw_reactor *reactor)
{
    const struct uw_static_settings *settings = &reactor->public_settings.core;
    int error = settings->root ? uw_static_open(&reactor->files, settings) : 0;

    if (error)
        rb_syserr_fail(-error, settings->root);
    reactor->has_files = settings->root;
}

void rb_uw_reactor_stop_files(struct rb_uw_reactor *reactor)
{
    if (reactor->has_files)
        uw_static_stop(&reactor->files);
}

void rb_uw_reactor_close_files(struct rb_uw_reactor *reactor)
{
    if (reactor->has_files)
        uw_static_close(&reactor->files);
    reactor->has_files = false;
}

bool rb_uw_reactor_answers_itself(const struct rb_uw_reactor *reactor)
{
    return reactor->has_files || uw_health_is_on(&reactor->base.settings);
}

static bool answer_without_application(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    return uw_health_try(request) || (reactor->has_files && uw_static_try(&reactor->files, request));
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_reactor *reactor = context;

    if (event != UW_EVENT_REQUEST || !answer_without_application(reactor, request))
        reactor->mode->notify(reactor, request, event);
}

/* A file's request has no id yet. */
static void answered(void *context, struct uw_request *request)
{
    struct rb_uw_loop_server *base = &((struct rb_uw_reactor *)context)->base;
    struct uw_access_record record;

    if (base->access_logging.log)
        uw_request_identify(request);
    record = uw_access_record(request);
    if (base->metrics)
        rb_uw_loop_server_measure(base, request, &record);
    if (base->access_logging.log)
        rb_uw_access_logging_add(&base->access_logging, request, &record);
}

static void refused(void *context, const struct uw_access_record *refusal)
{
    struct rb_uw_loop_server *base = &((struct rb_uw_reactor *)context)->base;

    uw_refusal_log_add(&base->refusals, refusal);
    if (base->metrics)
        uw_request_metrics_add_refusal(base->server.server_context.metrics, refusal);
    if (base->access_logging.log)
        rb_uw_access_logging_add_refusal(&base->access_logging, refusal);
}

static void troubled(void *context, enum uw_system_error trouble, const char *where, int error)
{
    uw_refusal_log_trouble(&((struct rb_uw_reactor *)context)->base.refusals, trouble, where, error);
}

static size_t give_up(void *context)
{
    struct rb_uw_reactor *reactor = context;

    return reactor->has_files ? uw_static_give_up(&reactor->files) : 0;
}

struct uw_handler rb_uw_reactor_handler(struct rb_uw_reactor *reactor)
{
    return (struct uw_handler){
        .context = reactor,
        .notify = rb_uw_reactor_answers_itself(reactor) ? notify : reactor->mode->notify,
        .answered = reactor->base.access_logging.log || reactor->base.metrics ? answered : NULL,
        .refused = refused,
        .troubled = troubled,
        .give_up = give_up,
        .accepts_websockets = true,
    };
}
