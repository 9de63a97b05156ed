/* Responses in HTTP/1.1 framing, byte for byte; and each allocation failing in turn. */
#include "http1/writer.h"

#include <errno.h>
#include <stdbool.h>

#include "check.h"
#include "http/date.h"
#include "http/status.h"
#include "http1/special_response.h"
#include "transport/chunk.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#endif

#if defined(__GLIBC__) && !SANITIZED
#define ALLOCATIONS_FAIL 1

void *__libc_malloc(size_t size);

static int allocations_left = -1; /* until all fail; negative: none does */

void *malloc(size_t size)
{
    if (allocations_left == 0) {
        errno = ENOMEM;
        return NULL;
    }
    if (allocations_left > 0)
        allocations_left--;
    return __libc_malloc(size);
}
#endif

static const struct uw_response_writer *const writer = &uw_http1_writer;

static int put_field(struct uw_chunk **chunk, const char *name, const char *value)
{
    return writer->field(chunk, name, strlen(name), value, strlen(value));
}

/* Frees the chunk. */
static void check_bytes(struct uw_chunk *chunk, const char *expected)
{
    CHECK(chunk);
    if (!chunk)
        return;
    CHECK_EQUAL(strlen(expected), chunk->length);
    CHECK(chunk->length == strlen(expected) && !memcmp(chunk->bytes, expected, chunk->length));
    CHECK(chunk->length <= chunk->capacity);
    uw_chunk_free(chunk);
}

TEST(status_lines)
{
    for (int status = 100; status <= 999; status++) {
        struct uw_http_response response = {.status = status};
        struct uw_chunk *chunk = NULL;
        char line[128];

        snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", status, uw_http_reason(status));
        CHECK(strlen(line) <= UW_RESPONSE_LINE_BYTES_MAX);
        CHECK_EQUAL(0, writer->status(&chunk, &response));
        check_bytes(chunk, line);
    }
}

TEST(fields_are_checked)
{
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(-UW_EFIELD_NAME, put_field(&chunk, "a b", "x"));
    CHECK_EQUAL(-UW_EFIELD_VALUE, put_field(&chunk, "a", "x\r\nb: c"));
    CHECK(!chunk);
    CHECK_EQUAL(0, put_field(&chunk, "a", "x"));
    CHECK_EQUAL(-UW_EFIELD_VALUE, put_field(&chunk, "b", "\n"));
    CHECK_EQUAL(0, put_field(&chunk, "c", ""));
    check_bytes(chunk, "a: x\r\nc: \r\n");
}

TEST(a_chunk_grows_with_what_it_has)
{
    static char value[100001], expected[2 * 100001 + 16];
    struct uw_chunk *chunk = NULL;

    memset(value, 'v', sizeof value - 1);
    snprintf(expected, sizeof expected, "a: %s\r\nb: %s\r\n", value, value);
    CHECK_EQUAL(0, put_field(&chunk, "a", value));
    CHECK_EQUAL(0, put_field(&chunk, "b", value));
    check_bytes(chunk, expected);
}

TEST(date)
{
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(0, writer->date(&chunk));
    CHECK_EQUAL(sizeof "Date: \r\n" - 1 + UW_HTTP_DATE_BYTES, chunk->length);
    CHECK(!memcmp(chunk->bytes, "Date: ", 6) && !memcmp(chunk->bytes + chunk->length - 6, " GMT\r\n", 6));
    uw_chunk_free(chunk);
}

static void check_framing(struct uw_http_response response, const char *expected)
{
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(0, writer->framing(&chunk, &response));
    check_bytes(chunk, expected);
}

TEST(framing_lines)
{
    struct uw_http_response response = {.status = 200, .framing = UW_FRAMING_SIZED, .has_length = true};

    check_framing(response, "Content-Length: 0\r\n");
    response.length = UINT64_MAX;
    check_framing(response, "Content-Length: 18446744073709551615\r\n");
    response.status = 204;
    check_framing(response, "");
    response = (struct uw_http_response){.status = 200, .framing = UW_FRAMING_CHUNKED};
    check_framing(response, "Transfer-Encoding: chunked\r\n");
    response.framing = UW_FRAMING_TO_CLOSE;
    check_framing(response, "");
}

static void check_connection(struct uw_http_response response, const char *expected)
{
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(0, writer->connection(&chunk, &response));
    if (*expected)
        check_bytes(chunk, expected);
    else
        CHECK(!chunk);
}

TEST(connection_lines)
{
    check_connection((struct uw_http_response){.status = 200, .version = UW_HTTP_1_1, .keep_alive = true}, "");
    check_connection((struct uw_http_response){.status = 200, .version = UW_HTTP_1_1}, "Connection: close\r\n");
    check_connection((struct uw_http_response){.status = 200, .keep_alive = true}, "Connection: keep-alive\r\n");
    check_connection((struct uw_http_response){.status = 101, .version = UW_HTTP_1_1, .upgrade = true},
                     "Connection: upgrade\r\n");
    check_connection((struct uw_http_response){.status = 101, .version = UW_HTTP_1_1}, "");
    check_connection((struct uw_http_response){.status = 200, .upgrade = true}, "Connection: upgrade, close\r\n");
    check_connection((struct uw_http_response){.status = 200, .upgrade = true, .keep_alive = true},
                     "Connection: upgrade, keep-alive\r\n");
}

static int put_pieces(struct uw_chunk **chunk, struct uw_http_response *response)
{
    static const char *const pieces[] = {"abc", "", "0123456789abcdefg"};
    int error = 0;

    for (size_t i = 0; i < 3 && !error; i++)
        error = writer->piece(chunk, response, pieces[i], strlen(pieces[i]));
    return error ? error : writer->end(chunk, response);
}

TEST(pieces_in_each_framing)
{
    static const struct {
        enum uw_http_framing framing;
        const char *expected;
    } framings[] = {
        {UW_FRAMING_SIZED, "abc0123456789abcdefg"},
        {UW_FRAMING_CHUNKED, "3\r\nabc\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n"},
        {UW_FRAMING_TO_CLOSE, "abc0123456789abcdefg"},
        {UW_FRAMING_UNTOUCHED, "abc0123456789abcdefg"},
    };

    for (size_t i = 0; i < sizeof framings / sizeof *framings; i++) {
        struct uw_http_response response = {.status = 200, .framing = framings[i].framing, .length = 20};
        struct uw_chunk *chunk = NULL;

        CHECK_EQUAL(0, put_pieces(&chunk, &response));
        CHECK_EQUAL(20, response.written);
        check_bytes(chunk, framings[i].expected);
    }
}

TEST(a_response_without_content_takes_none)
{
    struct uw_http_response response = {.status = 204, .framing = UW_FRAMING_NONE};
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(0, put_pieces(&chunk, &response));
    CHECK(!chunk);
}

TEST(content_of_another_length_is_an_error)
{
    struct uw_http_response response = {.status = 200, .framing = UW_FRAMING_SIZED, .length = 4};
    struct uw_chunk *chunk = NULL;

    CHECK_EQUAL(0, writer->piece(&chunk, &response, "abc", 3));
    CHECK_EQUAL(-UW_ECONTENT_SHORTER, writer->end(&chunk, &response));
    CHECK_EQUAL(-UW_ECONTENT_LONGER, writer->piece(&chunk, &response, "de", 2));
    check_bytes(chunk, "abc");
}

TEST(refusals)
{
    for (int status = 400; status <= 505; status++) {
        char expected[512];
        size_t bytes;
        struct uw_chunk *chunk = uw_http1_refusal(status, &bytes);
        bool upgrade = status == 426; /* RFC 6455, section 4.2.2: the version that would do */

        snprintf(expected, sizeof expected,
                 "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: text/plain\r\n%sContent-Length: %zu\r\n"
                 "Connection: %s\r\n\r\n%d %s\n",
                 status, uw_http_reason(status), uw_http_date_now(),
                 upgrade ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" : "", bytes,
                 upgrade ? "upgrade, close" : "close", status, uw_http_reason(status));
        CHECK_EQUAL(strlen(uw_http_reason(status)) + 5, bytes);
        check_bytes(chunk, expected);
    }
}

TEST(leave_to_send_content)
{
    check_bytes(uw_http1_continue(), "HTTP/1.1 100 Continue\r\n\r\n");
}

#ifdef ALLOCATIONS_FAIL
static int write_whole(struct uw_chunk **chunk)
{
    struct uw_http_response response = {.status = 200, .version = UW_HTTP_1_1, .framing = UW_FRAMING_CHUNKED};
    static char value[5000];
    int error = writer->status(chunk, &response);

    memset(value, 'v', sizeof value - 1);
    if (!error)
        error = put_field(chunk, "large", value);
    if (!error)
        error = writer->date(chunk);
    if (!error)
        error = writer->framing(chunk, &response);
    if (!error)
        error = writer->connection(chunk, &response);
    if (!error)
        error = writer->end_head(chunk);
    for (int i = 0; i < 10 && !error; i++)
        error = writer->piece(chunk, &response, value, sizeof value - 1);
    return error ? error : writer->end(chunk, &response);
}

/* Each allocation fails in turn, until none does. Returns how many failed. */
static int fail_each(void)
{
    for (int left = 0;; left++) {
        struct uw_chunk *chunk = NULL;
        size_t length;
        int error;

        allocations_left = left;
        error = write_whole(&chunk);
        allocations_left = -1;
        length = chunk ? chunk->length : 0;
        CHECK(!chunk || length <= chunk->capacity);
        CHECK_EQUAL(left == 0, !chunk);
        if (chunk)
            uw_chunk_free(chunk);
        if (!error)
            return left;
        CHECK_EQUAL(-ENOMEM, error);
    }
}

TEST(memory_that_is_exhausted_is_an_error)
{
    size_t bytes = 0;
    struct uw_chunk *refusal, *leave;

    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind has an allocator of its own");
    (void)uw_http_date_now(); /* it may allocate, for the time zone, once */
    CHECK(fail_each() > 2);
    allocations_left = 0;
    refusal = uw_http1_refusal(400, &bytes);
    leave = uw_http1_continue();
    allocations_left = -1;
    CHECK(!refusal && !leave);
    CHECK_EQUAL(sizeof "400 Bad Request\n" - 1, bytes);
}
#else
TEST(memory_that_is_exhausted_is_an_error)
{
    SKIP("this build has an allocator of its own");
}
#endif

TEST_MAIN
