#include "server/request_id.h"

#include <stdlib.h>

#include "check.h"
#include "http1/parser.h"
#include "server/connection.h"

#define MANY 10000

static const struct uw_http_limits limits = {8192, 4096, UW_HTTP_HEADERS_INLINE};
static struct uw_server_context server_context;
static struct uw_connection connection;
static struct uw_stream stream = {.connection = &connection};
static struct uw_request request;

/* The id of a request with this header line, from `remote`. */
static const char *identified(const char *remote, const char *line)
{
    int length;

    snprintf(connection.remote, sizeof connection.remote, "%s", remote);
    request.server_context = &server_context;
    request.stream = &stream;
    request.bytes = request.inline_bytes;
    request.id_length = 0;
    length = snprintf(request.bytes, sizeof request.inline_bytes, "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", line);
    uw_http_head_init(&request.head, &limits);
    CHECK_EQUAL(length, uw_http_parse(&request.head, request.bytes, (size_t)length));
    uw_request_identify(&request);
    request.id[request.id_length] = '\0';
    return request.id;
}

static bool is_made(const char *id)
{
    return strlen(id) == UW_REQUEST_ID_BYTES && strspn(id, "0123456789abcdef") == UW_REQUEST_ID_BYTES;
}

TEST(the_id_of_a_proxy_on_this_machine_counts)
{
    static const char long_id[] = "X-Request-Id: 0123456789012345678901234567890123456789012345678901234567890123"
                                  "456789012345678901234567890123456789012345678901234567890123456\r\n";

    uw_request_ids_init(&server_context.request_ids);
    CHECK(!strcmp("a-Z_0.9", identified("127.0.0.1", "X-Request-Id: a-Z_0.9\r\n")));
    CHECK(!strcmp("x", identified("::1", "x-request-id:x\r\n")));
    CHECK_EQUAL(127, strlen(identified("::1", long_id)));
}

TEST(any_other_is_replaced)
{
    static const char *const lines[] = {
        "",
        "X-Request-Id:\r\n",
        "X-Request-Id: a b\r\n",
        "X-Request-Id: a\"b\r\n",
        "X-Request-Id: a\xc3\xa4\r\n",
        "X-Request-Id: a\r\nX-Request-Id: b\r\n",
        "X-Request-Id: "
        "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
        "1234567890123456789012345678\r\n",
    };

    uw_request_ids_init(&server_context.request_ids);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(is_made(identified("127.0.0.1", lines[i])));
    CHECK(is_made(identified("192.0.2.1", "X-Request-Id: mine\r\n")));
}

TEST(a_request_keeps_its_id)
{
    char id[UW_REQUEST_ID_BYTES_MAX + 1];

    uw_request_ids_init(&server_context.request_ids);
    snprintf(id, sizeof id, "%s", identified("192.0.2.1", ""));
    uw_request_identify(&request);
    CHECK_EQUAL(0, memcmp(id, request.id, UW_REQUEST_ID_BYTES));
}

static int compare(const void *one, const void *other)
{
    return memcmp(one, other, UW_REQUEST_ID_BYTES);
}

TEST(no_two_are_the_same)
{
    static char ids[MANY][UW_REQUEST_ID_BYTES];

    for (int i = 0; i < MANY; i++) {
        if (i % (MANY / 4) == 0) /* another loop */
            uw_request_ids_init(&server_context.request_ids);
        memcpy(ids[i], identified("192.0.2.1", ""), UW_REQUEST_ID_BYTES);
    }
    qsort(ids, MANY, sizeof *ids, compare);
    for (int i = 1; i < MANY; i++)
        CHECK(compare(ids[i - 1], ids[i]) != 0);
}

TEST_MAIN
