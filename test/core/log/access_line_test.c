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
    static char blank[UW_LOG_LINE_BYTES_MAX];
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
               "\"\\u0022x\\u0022 \\u005c \\u0009\\u000d\\u000a\\u001b[31m \\u007f \\u00e4 \\ufffd\"}\n");
    access.user_agent = text("\xe2\x82\xac \xf0\x9f\x98\x80 \xc2\x9b");
    check_line(UW_ACCESS_JSON, &access,
               "{\"time\":\"1994-11-06T08:49:37Z\",\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\","
               "\"version\":\"1.1\",\"status\":200,\"bytes\":1234,\"user_agent\":"
               "\"\\u20ac \\ud83d\\ude00 \\u009b\"}\n");
    access.target = text("/\x1b]0;x\x07\"\n");
    access.served = true;
    access.application_ns = 12345678;
    check_line(UW_ACCESS_TERMINAL, &access, "\x1b[32m200\x1b[0m GET /\\x1B]0;x\\x07\\x22\\x0A 12.3 ms\n");
}

/* Wherever in a word of eight bytes the byte is that must be escaped. */
TEST(escapes_at_each_place)
{
    for (int place = 0; place < 24; place++) {
        struct uw_access_record access = example();
        char target[24], expected[256];

        memset(target, 'a', sizeof target);
        target[place] = '"';
        access.target = (struct uw_access_text){target, sizeof target};
        snprintf(expected, sizeof expected,
                 "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET %.*s\\x22%.*s HTTP/1.1\" 200 1234 \"-\" \"-\"\n",
                 place, target, (int)sizeof target - place - 1, target + place + 1);
        check_line(UW_ACCESS_COMBINED, &access, expected);
    }
}

TEST(what_an_application_has_served)
{
    struct uw_access_record access = example();

    access.request_id = text("0123abcd");
    access.traceparent = text("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    access.served = true;
    access.queue_ns = 42000;
    access.application_ns = 12003000999;
    access.worker = "3";
    access.tls = "TLSv1.3";
    access.status = 0;
    check_line(
        UW_ACCESS_COMBINED, &access,
        "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 000 1234 \"-\" \"-\" request_id=0123abcd "
        "queue_time=0.000042 application_time=12.003000 worker=3 tls=TLSv1.3 "
        "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n");
    check_line(UW_ACCESS_JSON, &access,
               "{\"time\":\"1994-11-06T08:49:37Z\",\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"target\":\"/a?b=c\","
               "\"version\":\"1.1\",\"status\":0,\"bytes\":1234,\"request_id\":\"0123abcd\",\"queue_time\":0.000042,"
               "\"application_time\":12.003000,\"worker\":3,\"tls\":\"TLSv1.3\","
               "\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}\n");
}

TEST(colours_at_a_terminal)
{
    static const struct {
        int status, colour;
    } cases[] = {{101, 36}, {204, 32}, {304, 36}, {404, 33}, {499, 33}, {503, 31}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct uw_access_record access = example();
        char expected[64];

        access.status = cases[i].status;
        snprintf(expected, sizeof expected, "\x1b[%dm%d\x1b[0m GET /a?b=c\n", cases[i].colour, cases[i].status);
        check_line(UW_ACCESS_TERMINAL, &access, expected);
    }
}

TEST(the_longest_line_fits)
{
    static char long_text[10000];
    static char line[UW_LOG_LINE_BYTES_MAX];
    struct uw_access_record access = example();

    access.remote = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255";
    access.bytes = access.queue_ns = access.application_ns = INT64_MAX;
    access.served = true;
    access.worker = "2147483647";
    access.tls = "TLSv1.3";
    access.method.length = access.target.length = access.referer.length = access.user_agent.length = sizeof long_text;
    access.request_id.length = access.traceparent.length = sizeof long_text;
    access.method.bytes = access.target.bytes = access.referer.bytes = access.user_agent.bytes = long_text;
    access.request_id.bytes = access.traceparent.bytes = long_text;
    for (int byte = 0; byte < 256; byte++) {
        memset(long_text, byte, sizeof long_text);
        for (enum uw_access_format format = UW_ACCESS_COMBINED; format <= UW_ACCESS_TERMINAL; format++) {
            size_t length = uw_access_line(line, format, &access);

            CHECK(length > UW_ACCESS_TERMINAL_BYTES_MAX / 2 && length <= sizeof line);
            CHECK_EQUAL('\n', line[length - 1]);
        }
    }
}

TEST_MAIN
