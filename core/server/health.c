#include "server/health.h"

#include <string.h>

#include "server/server_context.h"
#include "server/text_answer.h"

#define OK_TEXT "ok\n"
#define DRAINING_TEXT "draining\n"

bool uw_health_is_on(const struct uw_server_settings *settings)
{
    return *settings->health_path || *settings->ready_path;
}

static bool is_get(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_GET || request->head.method == UW_METHOD_HEAD;
}

static bool has_path(const struct uw_request *request, const char *path)
{
    struct uw_http_slice asked = request->head.path;

    return *path && asked.length == strlen(path) && memcmp(uw_request_text(request, asked), path, asked.length) == 0;
}

/* Returns the reason against new clients, or NULL. */
static const char *reason_against_clients(const struct uw_server_context *server_context)
{
    return atomic_load(&server_context->drain_announced) ? DRAINING_TEXT : NULL;
}

static void answer(struct uw_request *request, int status, const char *text)
{
    uw_answer_text(request, &(struct uw_text_answer){.status = status,
                                                     .content_type = "text/plain",
                                                     .cache_control = "no-store",
                                                     .text = text,
                                                     .length = strlen(text)});
}

static void answer_readiness(struct uw_request *request)
{
    const char *reason = reason_against_clients(request->server_context);

    answer(request, reason ? 503 : 200, reason ? reason : OK_TEXT);
}

bool uw_health_try(struct uw_request *request)
{
    const struct uw_server_settings *settings = &request->server_context->settings;

    UW_ASSERT_OWNER(&request->server_context->loop);
    if (!is_get(request))
        return false;
    if (has_path(request, settings->health_path))
        answer(request, 200, OK_TEXT);
    else if (has_path(request, settings->ready_path))
        answer_readiness(request);
    else
        return false;
    return true;
}
