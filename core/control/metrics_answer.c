#include "control/metrics_answer.h"

#include <stdlib.h>
#include <string.h>

#include "http/media_range.h"
#include "metrics/metrics_text.h"
#include "server/server_context.h"
#include "server/text_answer.h"

#define PATH "/metrics"
#define NOT_FOUND "404 Not Found: the metrics are at " PATH "\n"
#define NOT_ALLOWED "405 Method Not Allowed: send GET or HEAD\n"

static const char *const content_types[] = {
    [UW_METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
    [UW_METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

static bool has_path(const struct uw_request *request)
{
    struct uw_http_slice path = request->head.path;

    return path.length == sizeof PATH - 1 && memcmp(uw_request_text(request, path), PATH, sizeof PATH - 1) == 0;
}

static bool is_get(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_GET || request->head.method == UW_METHOD_HEAD;
}

static void answer_metrics(struct uw_request *request, const struct uw_metrics *metrics)
{
    bool open = uw_http_names_media_type(&request->head, request->bytes, "application/openmetrics-text");
    enum uw_metrics_format format = open ? UW_METRICS_OPENMETRICS : UW_METRICS_PROMETHEUS;
    size_t length;
    char *text = uw_metrics_text(metrics, format, &length);

    if (!text) {
        uw_request_abort(request);
        return;
    }
    uw_answer_text(request, &(struct uw_text_answer){.status = 200,
                                                     .content_type = content_types[format],
                                                     .cache_control = "no-store",
                                                     .text = text,
                                                     .length = length});
    free(text);
}

void uw_answer_metrics(struct uw_request *request, const struct uw_metrics *metrics)
{
    if (!has_path(request))
        uw_answer_text(request, &(struct uw_text_answer){.status = 404,
                                                         .content_type = "text/plain",
                                                         .text = NOT_FOUND,
                                                         .length = sizeof NOT_FOUND - 1});
    else if (!is_get(request))
        uw_answer_text(request, &(struct uw_text_answer){.status = 405,
                                                         .content_type = "text/plain",
                                                         .allow = "GET, HEAD",
                                                         .text = NOT_ALLOWED,
                                                         .length = sizeof NOT_ALLOWED - 1});
    else
        answer_metrics(request, metrics);
}
