#include "server/access_record.h"

#include <unistd.h>

#include "base/system.h"
#include "check.h"
#include "http1/parser.h"
#include "server/connection.h"

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define COMPLETE_NS (5 * UW_NS_PER_SECOND)

static const struct uw_http_limits limits = {8192, 4096, UW_HTTP_HEADERS_INLINE};
static struct uw_connection connection = {.remote = "192.0.2.1"};
static struct uw_stream stream = {.connection = &connection};
static struct uw_request request;

/* The record of a request with these header lines. */
static struct uw_access_record record(const char *lines)
{
    int length;

    request.stream = &stream;
    request.bytes = request.inline_bytes;
    length = snprintf(request.bytes, sizeof request.inline_bytes, "GET /x HTTP/1.1\r\nHost: a\r\n%s\r\n", lines);
    uw_http_head_init(&request.head, &limits);
    CHECK_EQUAL(length, uw_http_parse(&request.head, request.bytes, (size_t)length));
    return uw_access_record(&request);
}

static void begin(int64_t complete_ns, int64_t begun_ns, int64_t ended_ns)
{
    atomic_store(&request.client_gone, false);
    connection.input_ended = false;
    request.complete_ns = complete_ns;
    request.outcome = (struct uw_outcome){200, 7, begun_ns, ended_ns};
}

static bool is_text(struct uw_access_text text, const char *expected)
{
    return text.length == strlen(expected) && !memcmp(text.bytes, expected, text.length);
}

TEST(fields)
{
    struct uw_access_record access;

    begin(0, 0, 0);
    request.id_length = 2;
    memcpy(request.id, "id", 2);
    access = record("Referer: r\r\nUser-Agent: u\r\nUser-Agent: v\r\nTraceparent: " TRACEPARENT "\r\n");
    CHECK(is_text(access.method, "GET") && is_text(access.target, "/x"));
    CHECK(is_text(access.referer, "r") && is_text(access.user_agent, "u"));
    CHECK(is_text(access.traceparent, TRACEPARENT) && is_text(access.request_id, "id"));
    CHECK(!access.served && !access.worker && !access.tls);
    CHECK_EQUAL(200, access.status);
    CHECK_EQUAL(7, access.bytes);
    access = record("Traceparent: nonsense\r\n");
    CHECK_EQUAL(0, access.traceparent.length + access.referer.length + access.user_agent.length);
}

TEST(a_client_that_has_gone)
{
    begin(0, 0, 0);
    connection.input_ended = true;
    CHECK_EQUAL(UW_STATUS_CLIENT_GONE, record("").status);
    begin(0, 0, 0);
    atomic_store(&request.client_gone, true);
    CHECK_EQUAL(UW_STATUS_CLIENT_GONE, record("").status);
}

/* The loop did not turn while the application computed. */
TEST(a_client_that_has_gone_unnoticed)
{
    int ends[2];

    CHECK_EQUAL(0, uw_socket_pair(ends));
    connection.endpoint.fd = ends[0];
    begin(COMPLETE_NS, COMPLETE_NS, COMPLETE_NS + UW_NS_PER_SECOND);
    CHECK_EQUAL(200, record("").status);
    close(ends[1]);
    CHECK_EQUAL(UW_STATUS_CLIENT_GONE, record("").status);
    close(ends[0]);
}

TEST(times_of_the_application)
{
    struct uw_access_record access;

    begin(COMPLETE_NS, COMPLETE_NS + 3, COMPLETE_NS + 10);
    access = record("");
    CHECK(access.served);
    CHECK_EQUAL(3, access.queue_ns);
    CHECK_EQUAL(7, access.application_ns);
    begin(COMPLETE_NS, COMPLETE_NS - 1, COMPLETE_NS - 2); /* the loop's clock is a turn behind */
    access = record("");
    CHECK_EQUAL(0, access.queue_ns);
    CHECK_EQUAL(0, access.application_ns);
}

static const char *started(double seconds_ago)
{
    static char line[64];
    struct timespec now;

    CHECK_EQUAL(0, clock_gettime(CLOCK_REALTIME, &now));
    snprintf(line, sizeof line, "X-Request-Start: t=%.6f\r\n",
             (double)now.tv_sec + (double)now.tv_nsec / (double)UW_NS_PER_SECOND - seconds_ago);
    return line;
}

TEST(the_time_since_the_first_proxy)
{
    int64_t now_ns = uw_clock_ns(), queue_ns;

    begin(now_ns, now_ns + UW_NS_PER_MS, now_ns + 2 * UW_NS_PER_MS);
    queue_ns = record(started(2)).queue_ns;
    CHECK(queue_ns > 2 * UW_NS_PER_SECOND - 10 * UW_NS_PER_MS && queue_ns < 60 * UW_NS_PER_SECOND);
    CHECK_EQUAL(UW_NS_PER_MS, record(started(-1000)).queue_ns); /* a proxy whose clock is ahead */
    CHECK_EQUAL(UW_NS_PER_MS, record(started(100000)).queue_ns);
    CHECK_EQUAL(UW_NS_PER_MS, record("X-Request-Start: soon\r\n").queue_ns);
}

TEST_MAIN
