#include "log/access_line.h"

#include "check.h"
#include "guard_page.h"

#define TIME 784111777

static struct uw_access_text text(const char *bytes)
{
    return (struct uw_access_text){bytes, strlen(bytes)};
}

static struct uw_access_record example(void)
{
    return (struct uw_access_record){
        .time = TIME,
        .remote = "192.0.2.1",
        .method = text("GET"),
        .target = text("/a?b=c"),
        .version = UW_HTTP_1_1,
        .status = 200,
        .bytes = 1234,
    };
}

static void check_line(enum uw_access_format format, const struct uw_access_record *access, const char *expected)
{
    static char blank[UW_ACCESS_LINE_BYTES_MAX];
    char *line = guard_copy(blank, sizeof blank);
    size_t length = uw_access_line(line, format, access);

    if (length != strlen(expected) || memcmp(line, expected, length) != 0) {
        check_failures++;
        printf("expected %sgot      %.*s", expected, (int)length, line);
    }
}

TEST(combined)
{
    struct uw_access_record access = example();

    check_line(UW_ACCESS_COMBINED, &access,
               "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 200 1234 \"-\" \"-\"\n");
    access.referer = text("http://example.org/");
    access.user_agent = text("Some Browser/1.0 (a; b)");
    access.version = UW_HTTP_1_0;
    access.bytes = 0;
    check_line(UW_ACCESS_COMBINED, &access,
               "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.0\" 200 0 \"http://example.org/\" "
               "\"Some Browser/1.0 (a; b)\"\n");
}

TEST(json)
{
    struct uw_access_record access = example();

    check_line(UW_ACCESS_JSON, &access,
               "{\"time\":\"1994-11-06T08:49:37Z\",\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\","
               "\"version\":\"1.1\",\"status\":200,\"bytes\":1234}\n");
    access.referer = text("a");
    access.user_agent = text("b");
    check_line(UW_ACCESS_JSON, &access,
               "{\"time\":\"1994-11-06T08:49:37Z\",\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\","
               "\"version\":\"1.1\",\"status\":200,\"bytes\":1234,\"referer\":\"a\",\"user_agent\":\"b\"}\n");
}

/* A client must not be able to write lines, or fields, of its own. */
TEST(escapes)
{
    struct uw_access_record access = example();

    access.user_agent = text("\"x\" \\ \t\r\n\x1b[31m \x7f \xc3\xa4 \xff");
    check_line(UW_ACCESS_COMBINED, &access,
               "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 200 1234 \"-\" "
               "\"\\x22x\\x22 \\x5C \\x09\\x0D\\x0A\\x1B[31m \\x7F \\xC3\\xA4 \\xFF\"\n");
    check_line(UW_ACCESS_JSON, &access,
               "{\"time\":\"1994-11-06T08:49:37Z\",\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\","
               "\"version\":\"1.1\",\"status\":200,\"bytes\":1234,\"user_agent\":"
               "\"\\u0022x\\u0022 \\u005c \\u0009\\u000d\\u000a\\u001b[31m \\u007f \xc3\xa4 \xef\xbf\xbd\"}\n");
}

TEST(the_longest_line_fits)
{
    static char long_text[10000];
    static char line[UW_ACCESS_LINE_BYTES_MAX];
    struct uw_access_record access = example();

    access.remote = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255";
    access.bytes = INT64_MAX;
    access.method.length = access.target.length = access.referer.length = access.user_agent.length = sizeof long_text;
    access.method.bytes = access.target.bytes = access.referer.bytes = access.user_agent.bytes = long_text;
    for (int byte = 0; byte < 256; byte++) {
        memset(long_text, byte, sizeof long_text);
        for (enum uw_access_format format = UW_ACCESS_COMBINED; format <= UW_ACCESS_JSON; format++) {
            size_t length = uw_access_line(line, format, &access);

            CHECK(length > 2 * UW_ACCESS_FIELD_BYTES_MAX && length <= sizeof line);
            CHECK_EQUAL('\n', line[length - 1]);
        }
    }
}

TEST_MAIN
