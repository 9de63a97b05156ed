#include "server/access_record.h"

#include "base/clock.h"
#include "http/request_start.h"
#include "http/traceparent.h"

#define AGE_NS_MAX (3600 * UW_NS_PER_SECOND) /* of a request at a proxy; more is a wrong time */
#define LONG_NS (10 * UW_NS_PER_MS)          /* of an application: a look at the client costs little then */

static struct uw_access_text text(const struct uw_request *request, struct uw_http_slice slice)
{
    return (struct uw_access_text){uw_request_text(request, slice), slice.length};
}

/* The first field of a name counts. */
static void note(struct uw_access_text *noted, struct uw_access_text value)
{
    if (!noted->bytes)
        *noted = value;
}

/* The values of fields: NULL when a field is absent. */
struct fields {
    struct uw_access_text referer, user_agent, traceparent, request_start;
};

static struct fields find_fields(const struct uw_request *request)
{
    struct fields fields = {0};

    for (uint32_t i = 0; i < request->head.header_count; i++) {
        const struct uw_http_header *header = uw_http_header(&request->head, i);

        if (header->field == UW_FIELD_REFERER)
            note(&fields.referer, text(request, header->value));
        else if (header->field == UW_FIELD_USER_AGENT)
            note(&fields.user_agent, text(request, header->value));
        else if (header->field == UW_FIELD_TRACEPARENT)
            note(&fields.traceparent, text(request, header->value));
        else if (header->field == UW_FIELD_X_REQUEST_START)
            note(&fields.request_start, text(request, header->value));
    }
    return fields;
}

static struct uw_access_text traceparent(struct uw_access_text value)
{
    value.length = value.bytes ? uw_http_traceparent(value.bytes, value.length) : 0;
    return value;
}

static int64_t wall_clock_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * UW_NS_PER_SECOND + now.tv_nsec;
}

/* Returns the time since the first proxy got the request, or 0 when it is unknown. */
static int64_t age_ns(struct uw_access_text request_start)
{
    int64_t start_ns = uw_http_request_start_ns(request_start.bytes, request_start.length);
    int64_t age_ns = start_ns < 0 ? 0 : wall_clock_ns() - start_ns;

    return age_ns <= AGE_NS_MAX ? age_ns : 0;
}

/* The time from the first proxy, or else from the complete request, until the application was called. The clocks of two
 * machines differ. */
static int64_t queue_ns(const struct uw_request *request, struct uw_access_text request_start)
{
    const struct uw_outcome *outcome = &request->outcome;
    int64_t here_ns = outcome->begun_ns - request->complete_ns;
    int64_t before_ns = request_start.bytes ? age_ns(request_start) - (uw_clock_ns() - request->complete_ns) : 0;

    return (here_ns > 0 ? here_ns : 0) + (before_ns > 0 ? before_ns : 0);
}

static int64_t application_ns(const struct uw_outcome *outcome)
{
    return outcome->ended_ns > outcome->begun_ns ? outcome->ended_ns - outcome->begun_ns : 0;
}

static int status(const struct uw_request *request)
{
    bool looks = application_ns(&request->outcome) >= LONG_NS;

    return !request->sent && uw_request_is_abandoned(request, looks) ? UW_STATUS_CLIENT_GONE : request->outcome.status;
}

struct uw_access_record uw_access_record(const struct uw_request *request)
{
    const struct uw_outcome *outcome = &request->outcome;
    struct fields fields = find_fields(request);
    bool served = outcome->begun_ns != 0;

    return (struct uw_access_record){
        .time = time(NULL),
        .remote = uw_request_remote(request),
        .method = text(request, request->head.method_name),
        .target = text(request, request->head.target),
        .referer = fields.referer,
        .user_agent = fields.user_agent,
        .request_id = {request->id, request->id_length},
        .traceparent = traceparent(fields.traceparent),
        .version = request->head.version,
        .status = status(request),
        .bytes = outcome->content_bytes,
        .served = served,
        .queue_ns = served ? queue_ns(request, fields.request_start) : 0,
        .application_ns = served ? application_ns(outcome) : 0,
        .tls = uw_request_tls_version(request),
    };
}
