#include "server/refusal_record.h"

#include "check.h"
#include "log/server_line.h"
#include "server/connection.h"

static struct uw_connection connection = {.remote = "192.0.2.1"};
static struct uw_stream stream = {.connection = &connection};
static char line[UW_LOG_LINE_BYTES_MAX + 1];

static struct uw_access_record refused(const char *head, size_t length)
{
    static struct uw_request request;

    request.stream = &stream;
    request.bytes = request.inline_bytes;
    request.bytes_length = (uint32_t)length;
    memcpy(request.bytes, head, length);
    return uw_refusal_record(&request, 431, 36);
}

/* Returns the line from `begin` on. */
static const char *rest(size_t written, const char *begin)
{
    CHECK(written > 0 && written < UW_LOG_LINE_BYTES_MAX && line[written - 1] == '\n');
    CHECK(memchr(line, '\n', written) == line + written - 1);
    line[written - 1] = '\0';
    return strstr(line, begin);
}

/* What the server's log says of a request of which `head` came, after time and process. */
static const char *told(const char *head, size_t length)
{
    struct uw_access_record refusal = refused(head, length);

    return rest(uw_refused_line(line, UW_LOG_TEXT, &refusal), "]: ");
}

static const char *accessed(const char *head, size_t length, enum uw_access_format format)
{
    struct uw_access_record refusal = refused(head, length);

    return rest(uw_access_line(line, format, &refusal), "] ");
}

#define TELLS(expected, head) \
    CHECK(!strcmp("]: refused 192.0.2.1 \"" expected "\" 431 Request Header Fields Too Large", \
                  told(head, sizeof head - 1)))

TEST(as_much_of_the_request_line_as_came)
{
    TELLS("GET /x", "GET /x HTTP/1.1\r\nHost: a\r\n");
    TELLS("GET /x?a=b", "\r\nGET /x?a=b HTTP/1.1\n");
    TELLS("GET /x", "GET /x");
    TELLS("GET", "GET ");
    TELLS("-", "");
    TELLS("- /x", " /x HTTP/1.1\r\n");
}

TEST(no_client_can_forge_a_line_or_a_field)
{
    TELLS("GET /\\x22200\\x00\\x1B[2J\\x5C", "GET /\"200\0\x1b[2J\\ HTTP/1.1\r\n");
    TELLS("\\x16\\x03\\x01",
          "\x16\x03\x01\n2026-11-22T03:20:00Z upwell[1]: refused 127.0.0.1 \"GET /\" 400 Bad Request\n");
}

TEST(as_json)
{
    static const char head[] = "GET /\"\xc3 HTTP/1.1\r\n";
    struct uw_access_record refusal = refused(head, sizeof head - 1);

    CHECK(!strcmp(
        ",\"message\":\"refused 192.0.2.1 \\u0022GET /\\u005cx22\\u005cxC3\\u0022 431 Request Header Fields Too "
        "Large\"}",
        rest(uw_refused_line(line, UW_LOG_JSON, &refusal), ",\"message\"")));
}

TEST(what_is_long_is_cut)
{
    char head[UW_REQUEST_HEAD_BYTES];
    size_t length;

    memset(head, 'a', sizeof head);
    CHECK(told(head, sizeof head) != NULL);
    head[4] = ' ';
    CHECK(told(head, sizeof head) != NULL);
    length = strlen(line);
    CHECK(length < 400);
}

TEST(the_access_log_tells_of_it_as_of_any_request)
{
    CHECK(
        !strcmp("] \"GET /x HTTP/1.1\" 431 36 \"-\" \"-\"", accessed("GET /x HTTP/1.1\r\nA", 18, UW_ACCESS_COMBINED)));
    CHECK(!strcmp("] \"GET /x\" 431 36 \"-\" \"-\"", accessed("GET /x HTTP/1.", 14, UW_ACCESS_COMBINED)));
    CHECK(!strcmp("] \"-\" 431 36 \"-\" \"-\"", accessed("", 0, UW_ACCESS_COMBINED)));
    (void)accessed("GET /x HTT", 10, UW_ACCESS_JSON);
    CHECK(strstr(line, "\"method\":\"GET\",\"target\":\"/x\",\"status\":431,\"bytes\":36}") != NULL);
}

TEST_MAIN
