#include "server/request_metrics.h"

#include "base/clock.h"
#include "log/access_line.h"
#include "metrics/metrics.h"
#include "server/server_context.h"
#include "server/trusted_peer.h"

#define CLASSES 6 /* of the status; the first one: no response */
#define HUNDRED 100

_Static_assert(UW_LABEL_COUNT_METHOD == UW_METHOD_TRACE - UW_METHOD_OTHER + 1, "each method has a label value");
_Static_assert(UW_LABEL_COUNT_STATUS_CLASS == CLASSES, "each class has a label value");

/* The statuses of refusals, in the order of the label's values. */
static const int refusals[UW_LABEL_COUNT_REFUSAL - 1] = {400, 408, 413, 414, 417, 426, 431, 501, 503, 505};

static unsigned class_of(int status)
{
    int class = status / HUNDRED;

    return class < CLASSES ? (unsigned)class : 0;
}

static int64_t duration_ns(const struct uw_request *request)
{
    int64_t end_ns = request->outcome.ended_ns ? request->outcome.ended_ns : uw_clock_ns();

    return request->complete_ns && end_ns > request->complete_ns ? end_ns - request->complete_ns : 0;
}

/* A client that is no local proxy must not name the time. */
static int64_t queue_ns(const struct uw_request *request, const struct uw_access_record *record)
{
    int64_t here_ns = request->outcome.begun_ns - request->complete_ns;

    if (uw_request_has_trusted_peer(request))
        return record->queue_ns;
    return here_ns > 0 ? here_ns : 0;
}

void uw_request_metrics_add(const struct uw_request *request, const struct uw_access_record *record)
{
    struct uw_metrics_block *block = request->server_context->metrics;
    unsigned method = (unsigned)(request->head.method - UW_METHOD_OTHER);
    unsigned histogram = method * CLASSES + class_of(record->status);

    UW_ASSERT_OWNER(&request->server_context->loop);
    uw_metrics_observe(block, UW_METRIC_REQUEST_DURATION_FIRST + histogram * UW_METRIC_HISTOGRAM_VALUES,
                       duration_ns(request));
    if (record->served)
        uw_metrics_observe(block, UW_METRIC_QUEUE_TIME_FIRST, queue_ns(request, record));
}

void uw_request_metrics_add_refusal(struct uw_metrics_block *block, const struct uw_access_record *refusal)
{
    unsigned index = 0;

    while (index < sizeof refusals / sizeof *refusals && refusals[index] != refusal->status)
        index++;
    uw_metrics_add(block, UW_METRIC_REQUESTS_REFUSED_FIRST + index, 1);
}
