#include "http1/parser.h"

#include "check.h"
#include "parse_every_split.h"

static int parse(struct uw_http_head *head, const char *text)
{
    return parse_every_cut(head, text, strlen(text));
}

static bool slice_is(const char *text, struct uw_http_slice slice, const char *expected)
{
    return slice.length == strlen(expected) && memcmp(text + slice.offset, expected, slice.length) == 0;
}

#define EXPECT(expected, text) \
    do { \
        struct uw_http_head head_; \
        int result_ = parse(&head_, text); \
        if (result_ != (expected)) \
            printf("%s\n", text); \
        CHECK_EQUAL(expected, result_); \
    } while (0)
#define ACCEPT(text) EXPECT((int)strlen(text), text)
#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"

TEST(a_simple_request)
{
    static const char text[] = "GET /a/b?c=d&e HTTP/1.1\r\nHost: example.org:8080\r\nAccept:  */* \r\nX-Empty:\r\n\r\n";
    struct uw_http_head head;

    CHECK_EQUAL(sizeof text - 1, parse(&head, text));
    CHECK_EQUAL(UW_METHOD_GET, head.method);
    CHECK_EQUAL(UW_FORM_ORIGIN, head.form);
    CHECK(slice_is(text, head.target, "/a/b?c=d&e"));
    CHECK(slice_is(text, head.path, "/a/b"));
    CHECK(slice_is(text, head.query, "c=d&e"));
    CHECK(slice_is(text, head.host, "example.org:8080"));
    CHECK_EQUAL(3, head.header_count);
    CHECK_EQUAL(UW_FIELD_ACCEPT, head.headers[1].field);
    CHECK(slice_is(text, head.headers[1].value, "*/*"));
    CHECK_EQUAL(0, head.headers[2].value.length);
    CHECK(head.keep_alive && !head.chunked && !head.has_content_length);
}

TEST(what_follows_the_head_is_left_alone)
{
    struct uw_http_head head;

    uw_http_head_init(&head, &limits);
    CHECK_EQUAL(strlen(LINE HOST "\r\n"),
                uw_http_parse(&head, LINE HOST "\r\nGET /next", strlen(LINE HOST "\r\nGET /next")));
}

TEST(methods)
{
    struct uw_http_head head;

    CHECK(parse(&head, "BREW / HTTP/1.1\r\n" HOST "\r\n") > 0);
    CHECK_EQUAL(UW_METHOD_OTHER, head.method);
    CHECK(parse(&head, "DELETE / HTTP/1.1\r\n" HOST "\r\n") > 0);
    CHECK_EQUAL(UW_METHOD_DELETE, head.method);
    EXPECT(-400, "GE(T / HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, " GET / HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-501, "ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-501, "ABCDEFGHIJKLMNOPQRSTUVWXYZ\x01 / HTTP/1.1\r\n" HOST "\r\n");
}

TEST(request_line)
{
    ACCEPT("\r\n\r\n" LINE HOST "\r\n");
    EXPECT(-400, "\r\n\r\n\r\n\r\n\r\n" LINE HOST "\r\n");
    EXPECT(-400, "GET  / HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET /  HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET / HTTP/1.1 \r\n" HOST "\r\n");
    EXPECT(-400, "GET /\tHTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET / HTTP/1.1\n" HOST "\r\n");
    EXPECT(-400, "GET / HTTP/1.1\r" HOST "\r\n");
    EXPECT(-400, "GET /\r\n");
    EXPECT(-400, "GET / http/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET / HTTP/1.10\r\n" HOST "\r\n");
    EXPECT(-505, "GET / HTTP/2.0\r\n" HOST "\r\n");
    EXPECT(-505, "GET / HTTP/0.9\r\n" HOST "\r\n");
    ACCEPT("GET / HTTP/1.2\r\n" HOST "\r\n");
}

TEST(targets)
{
    struct uw_http_head head;
    static const char absolute[] = "GET http://b:81?x HTTP/1.1\r\nHost: a\r\n\r\n";

    CHECK(parse(&head, absolute) > 0);
    CHECK_EQUAL(UW_FORM_ABSOLUTE, head.form);
    CHECK(slice_is(absolute, head.host, "b:81"));
    CHECK_EQUAL(0, head.path.length);
    CHECK(slice_is(absolute, head.query, "x"));
    ACCEPT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n");
    ACCEPT("CONNECT a:443 HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET * HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET a:443 HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "CONNECT a HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "CONNECT / HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET http:///x HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET http://u@a/ HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET /a#b HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET /\x80 HTTP/1.1\r\n" HOST "\r\n");
    EXPECT(-400, "GET /\x01 HTTP/1.1\r\n" HOST "\r\n");
}

TEST(hosts)
{
    EXPECT(-400, LINE "\r\n");
    EXPECT(-400, LINE HOST HOST "\r\n");
    EXPECT(-400, LINE "Host: a b\r\n\r\n");
    EXPECT(-400, LINE "Host: u@a\r\n\r\n");
    EXPECT(-400, LINE "Host: a/b\r\n\r\n");
    EXPECT(-400, LINE "Host: a:99999\r\n\r\n");
    EXPECT(-400, LINE "Host: a:1x\r\n\r\n");
    EXPECT(-400, LINE "Host: [::1\r\n\r\n");
    EXPECT(-400, LINE "Host: a%\r\n\r\n");
    EXPECT(-400, LINE "Host: %\r\n\r\n");
    EXPECT(-400, LINE "Host: a%4\r\n\r\n");
    EXPECT(-400, LINE "Host: a%4g\r\n\r\n");
    EXPECT(-400, LINE "Host: a%:80\r\n\r\n");
    EXPECT(-400, LINE "Host: [:]\r\n\r\n");
    EXPECT(-400, LINE "Host: []\r\n\r\n");
    EXPECT(-400, LINE "Host: [::1::2]\r\n\r\n");
    EXPECT(-400, LINE "Host: [1.2.3.4]\r\n\r\n");
    EXPECT(-400, LINE "Host: [::12345]\r\n\r\n");
    EXPECT(-400, LINE "Host: [1:2:3:4:5:6:7:8:9]\r\n\r\n");
    EXPECT(-400, LINE "Host: [fe80::1%25eth0]\r\n\r\n");
    EXPECT(-400, LINE "Host: [::1]a\r\n\r\n");
    EXPECT(-400, LINE "Host: [::1][::1]\r\n\r\n");
    EXPECT(-400, LINE "Host: a:\t80\r\n\r\n");
    EXPECT(-400, LINE "Host: \xc3\xa9\r\n\r\n");
    EXPECT(-400, "GET http://a%/ HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT(-400, "GET http://[:]/ HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT(-400, "CONNECT a%:80 HTTP/1.1\r\nHost: a\r\n\r\n");
    ACCEPT(LINE "Host: a%41:80\r\n\r\n");
    ACCEPT(LINE "Host: a:\r\n\r\n");
    ACCEPT(LINE "Host: [2001:db8::7.8.9.10]\r\n\r\n");
    ACCEPT(LINE "Host: [1:2:3:4:5:6:7:8]\r\n\r\n");
    EXPECT(-400, LINE "Host: :80\r\n\r\n");
    ACCEPT(LINE "Host:\r\n\r\n");
    ACCEPT(LINE "Host: [::1]:80\r\n\r\n");
    ACCEPT("GET / HTTP/1.0\r\n\r\n");
}

TEST(header_lines)
{
    EXPECT(-400, LINE HOST "A : b\r\n\r\n");
    EXPECT(-400, LINE HOST "A\t: b\r\n\r\n");
    EXPECT(-400, LINE HOST ": b\r\n\r\n");
    EXPECT(-400, LINE HOST "A\r\n\r\n");
    EXPECT(-400, LINE " A: b\r\n" HOST "\r\n");
    EXPECT(-400, LINE HOST "A: b\r\n c\r\n\r\n");
    EXPECT(-400, LINE HOST "A: b\n\r\n");
    EXPECT(-400, LINE HOST "A: b\rc\r\n\r\n");
    EXPECT(-400, LINE HOST "A: b\x01\r\n\r\n");
    EXPECT(-400, LINE HOST "A: b\x7f\r\n\r\n");
    EXPECT(-400, LINE HOST "A(: b\r\n\r\n");
    EXPECT(-400, LINE HOST "A\x80: b\r\n\r\n");
    EXPECT(-400, LINE HOST "\n");
    EXPECT(-400, LINE HOST "\rX");
    ACCEPT(LINE HOST "A: b\tc \x80\xff\r\n\r\n");
}

TEST(a_nul_is_refused_everywhere)
{
    static const char text[] = LINE HOST "A: b\r\n\r\n";
    char changed[sizeof text];
    struct uw_http_head head;

    for (size_t i = 0; i < sizeof text - 1; i++) {
        memcpy(changed, text, sizeof text);
        changed[i] = '\0';
        CHECK_EQUAL(-400, parse_every_cut(&head, changed, sizeof text - 1));
    }
}

TEST(lengths)
{
    struct uw_http_head head;

    CHECK(parse(&head, LINE HOST "Content-Length: 12\r\n\r\n") > 0);
    CHECK_EQUAL(12, head.content_length);
    EXPECT(-400, LINE HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: 5, 5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: +5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: -5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: 0x5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: 5 5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length:\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: 99999999999999999999\r\n\r\n");
}

TEST(codings)
{
    struct uw_http_head head;

    CHECK(parse(&head, LINE HOST "Transfer-Encoding: Chunked\r\n\r\n") > 0);
    CHECK(head.chunked);
    EXPECT(-400, LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n");
    EXPECT(-400, LINE HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding: chunked, chunked\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding: chunked, gzip\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding: identity\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding: xchunked\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding:\r\n\r\n");
    EXPECT(-501, LINE HOST "Transfer-Encoding: gzip, chunked\r\n\r\n");
    EXPECT(-400, LINE HOST "Transfer-Encoding : chunked\r\n\r\n");
    EXPECT(-400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(connection_and_expect)
{
    struct uw_http_head head;

    CHECK(parse(&head, LINE HOST "Connection: foo, close\r\n\r\n") > 0 && !head.keep_alive);
    CHECK(parse(&head, LINE HOST "Connection: closed\r\n\r\n") > 0 && head.keep_alive);
    CHECK(parse(&head, "GET / HTTP/1.0\r\n\r\n") > 0 && !head.keep_alive);
    CHECK(parse(&head, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n") > 0 && head.keep_alive);
    CHECK(parse(&head, LINE HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n") > 0 && head.upgrade);
    CHECK(parse(&head, LINE HOST "Expect: 100-Continue\r\n\r\n") > 0 && head.expect_continue);
    EXPECT(-417, LINE HOST "Expect: a-miracle\r\n\r\n");
    CHECK(parse(&head, LINE HOST "Connection: close\r\nConnection: keep-alive\r\n\r\n") > 0 && !head.keep_alive);
    CHECK(parse(&head, LINE HOST "Connection: ,\t te , Close ,x\r\n\r\n") > 0 && !head.keep_alive);
    CHECK(parse(&head, LINE HOST "Connection: close;x\r\n\r\n") > 0 && head.keep_alive);
    CHECK(parse(&head, LINE HOST "Connection: close\x80, x/close, not close\r\n\r\n") > 0 && head.keep_alive);
    CHECK(parse(&head, "GET / HTTP/1.0\r\nConnection: x keep-alive\r\n\r\n") > 0 && !head.keep_alive);
    CHECK(parse(&head, LINE HOST "Upgrade: websocket\r\n\r\n") > 0 && !head.upgrade);
    CHECK(parse(&head, "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n") > 0 && !head.upgrade);
    CHECK(parse(&head, "GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n") > 0 && !head.expect_continue);
}

/* Long parts are scanned by words: a byte must count alike at each place in a word. */
TEST(every_byte_at_every_place_in_a_word)
{
    struct uw_http_head head;
    char text[64];

    for (int place = 0; place < 17; place++) {
        for (int byte = 0; byte < 256; byte++) {
            bool visible = byte > ' ' && byte < 0x7f;
            bool in_value = visible || byte == ' ' || byte == '\t' || byte >= 0x80;
            int length = snprintf(text, sizeof text, LINE HOST "A:%017d\r\n\r\n", 0);

            if (byte == '\r' || byte == ' ')
                continue; /* these end a part: what follows decides */
            text[strlen(LINE HOST "A:") + (size_t)place] = (char)byte;
            CHECK_EQUAL(in_value ? length : -400, parse_bytewise(&head, text, (size_t)length));
            CHECK_EQUAL(in_value ? length : -400, parse_cut(&head, text, (size_t)length, 0));
            length = snprintf(text, sizeof text, "GET /%017d HTTP/1.1\r\n" HOST "\r\n", 0);
            text[strlen("GET /") + (size_t)place] = (char)byte;
            CHECK_EQUAL(visible && byte != '#' ? length : -400, parse_bytewise(&head, text, (size_t)length));
            CHECK_EQUAL(visible && byte != '#' ? length : -400, parse_cut(&head, text, (size_t)length, 0));
        }
    }
}

TEST(limits_are_kept)
{
    char text[8192];
    struct uw_http_head head;
    int length = snprintf(text, sizeof text, "GET /%0600d HTTP/1.1\r\n" HOST "\r\n", 0);

    CHECK_EQUAL(-414, parse_every_cut(&head, text, (size_t)length));
    CHECK_EQUAL(-414, parse_every_cut(&head, text, 550)); /* known before the target ends */
    length = snprintf(text, sizeof text, LINE HOST "A: %05000d\r\n\r\n", 0);
    uw_http_head_init(&head, &limits);
    CHECK_EQUAL(-431, uw_http_parse(&head, guard_copy(text, (size_t)length), (size_t)length));
    EXPECT(-431, LINE HOST "a:\r\nb:\r\nc:\r\nd:\r\ne:\r\nf:\r\ng:\r\nh:\r\ni:\r\nj:\r\n\r\n");
    ACCEPT(LINE HOST "a:\r\nb:\r\nc:\r\nd:\r\ne:\r\nf:\r\ng:\r\nh:\r\ni:\r\n\r\n");
}

/* Beyond those in the structure. */
static void parse_many(struct uw_http_head *head, const char *text, size_t length, size_t piece, int expected)
{
    static const struct uw_http_limits many = {1024 * 1024, 4096, UW_HTTP_HEADERS_MAX};
    int result = 0;

    uw_http_head_init(head, &many);
    for (size_t end = piece; result == 0 && end < length + piece; end += piece)
        result = uw_http_parse(head, text, end < length ? end : length);
    CHECK_EQUAL(expected, result);
}

TEST(as_many_headers_as_can_be_allowed)
{
    static char text[UW_HTTP_HEADERS_MAX * 16];
    struct uw_http_head head;
    size_t length = (size_t)snprintf(text, sizeof text, LINE HOST);

    for (int i = 1; i < UW_HTTP_HEADERS_MAX; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "x: %d\r\n", i);
    memcpy(text + length, "\r\n", 3);
    for (size_t piece = 1000; piece < 1100; piece += 33) {
        parse_many(&head, text, length + 2, piece, (int)length + 2);
        CHECK_EQUAL(UW_HTTP_HEADERS_MAX, head.header_count);
        CHECK(slice_is(text, uw_http_header(&head, 99)->value, "99"));
        CHECK(slice_is(text, uw_http_header(&head, 100)->value, "100"));
        CHECK(slice_is(text, uw_http_header(&head, UW_HTTP_HEADERS_MAX - 1)->value, "9999"));
        uw_http_head_free(&head);
    }
    memcpy(text + length, "y:\r\n\r\n", 7);
    parse_many(&head, text, length + 6, length + 6, -431);
    uw_http_head_free(&head);
}

TEST_MAIN
