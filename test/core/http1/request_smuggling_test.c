/* Requests that two parsers may read differently: each is refused, or read in the one way that leaves no doubt. */
#include "http1/parser.h"

#include "check.h"
#include "parse_every_split.h"

#define ACCEPTED 0
#define GET "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"
#define CASE(expected, text) \
    { \
        expected, sizeof text - 1, text \
    }

struct attempt {
    int expected; /* ACCEPTED: the whole text is one head */
    size_t length;
    const char *text;
};

#define CHECK_ATTEMPTS(attempts) check_attempts(attempts, sizeof attempts / sizeof *attempts)

static void check_attempts(const struct attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct uw_http_head head;
        int result = parse_every_cut(&head, attempts[i].text, attempts[i].length);
        int expected = attempts[i].expected == ACCEPTED ? (int)attempts[i].length : attempts[i].expected;

        if (result != expected)
            printf("attempt %zu: %s\n", i, attempts[i].text);
        CHECK_EQUAL(expected, result);
    }
}

TEST(length_and_coding_together)
{
    static const struct attempt attempts[] = {
        CASE(-400, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\r\nX: y\r\ncontent-length: 5\r\n\r\n"),
        CASE(-400, POST "Connection: Content-Length\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, "POST / HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(hidden_codings)
{
    static const struct attempt attempts[] = {
        CASE(ACCEPTED, POST "Transfer-Encoding: chunked\r\n\r\n"),
        CASE(ACCEPTED, POST "TRANSFER-ENCODING:CHUNKED\r\n\r\n"),
        CASE(ACCEPTED, POST "Transfer-Encoding:\t chunked \t\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding : chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding\t: chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding\r\n: chunked\r\n\r\n"),
        CASE(-400, POST " Transfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "X: y\r\n Transfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "X: y\nTransfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "X: y\rTransfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding:\r\n chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\r\n , identity\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: \vchunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\f\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\0\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding\0: chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\xa0\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chun\xe2\x84\xaa"
                        "ed\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: \"chunked\"\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: 'chunked'\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: [chunked]\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked;q=1\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked;\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked,\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: ,chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: gzip chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked, chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked, identity\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: xchunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunke\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: identity\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding:\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n\r\n"),
        CASE(-501, POST "Transfer-Encoding: identity, chunked\r\n\r\n"),
        CASE(-501, POST "Transfer-Encoding: gzip,chunked\r\n\r\n"),
        CASE(-400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(doubtful_lengths)
{
    static const struct attempt attempts[] = {
        CASE(ACCEPTED, POST "Content-Length: 5\r\n\r\n"),
        CASE(ACCEPTED, POST "Content-Length:\t5 \r\n\r\n"),
        CASE(ACCEPTED, POST "Content-Length: 010\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"),
        CASE(-400, POST "Content-Length: 0\r\nContent-Length: 5\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5\r\ncontent-length: 6\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5,5\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5, 6\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5,\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5;\r\n\r\n"),
        CASE(-400, POST "Content-Length: +5\r\n\r\n"),
        CASE(-400, POST "Content-Length: -5\r\n\r\n"),
        CASE(-400, POST "Content-Length: -0\r\n\r\n"),
        CASE(-400, POST "Content-Length: 0x5\r\n\r\n"),
        CASE(-400, POST "Content-Length: a\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5a\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5.0\r\n\r\n"),
        CASE(-400, POST "Content-Length: 1e3\r\n\r\n"),
        CASE(-400, POST "Content-Length: 1_000\r\n\r\n"),
        CASE(-400, POST "Content-Length: 1 0\r\n\r\n"),
        CASE(-400, POST "Content-Length: \"5\"\r\n\r\n"),
        CASE(-400, POST "Content-Length: \xd9\xa5\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5\v\r\n\r\n"),
        CASE(-400, POST "Content-Length: 5\0\r\n\r\n"),
        CASE(-400, POST "Content-Length: \r\n\r\n"),
        CASE(-400, POST "Content-Length: 1\r\n 0\r\n\r\n"),
        CASE(-400, POST "Content-Length : 5\r\n\r\n"),
        CASE(-400, POST "Content-Length: 18446744073709551621\r\n\r\n"),
        CASE(-400, POST "Content-Length: 00000000000000000000000005\r\n\r\n"),
        CASE(-400, POST "Content-Length: 4294967296429496729642949672964294967296\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(doubtful_hosts)
{
    static const struct attempt attempts[] = {
        CASE(-400, GET "\r\n"),
        CASE(-400, GET "Host: a\r\nHost: a\r\n\r\n"),
        CASE(-400, GET "Host: a\r\nhOST: b\r\n\r\n"),
        CASE(-400, GET "Host:\r\nHost: b\r\n\r\n"),
        CASE(-400, GET " Host: a\r\n\r\n"),
        CASE(-400, GET "Host : a\r\n\r\n"),
        CASE(-400, GET "Host: a\r\n b\r\n\r\n"),
        CASE(-400, GET "Host: a, b\r\n\r\n"),
        CASE(-400, GET "Host: a b\r\n\r\n"),
        CASE(-400, GET "Host: a\tb\r\n\r\n"),
        CASE(-400, GET "Host: u@a\r\n\r\n"),
        CASE(-400, GET "Host: u:p@a\r\n\r\n"),
        CASE(-400, GET "Host: a/b\r\n\r\n"),
        CASE(-400, GET "Host: a\\b\r\n\r\n"),
        CASE(-400, GET "Host: a?b\r\n\r\n"),
        CASE(-400, GET "Host: a#b\r\n\r\n"),
        CASE(-400, GET "Host: http://a\r\n\r\n"),
        CASE(-400, GET "Host: <a>\r\n\r\n"),
        CASE(-400, GET "Host: a\x80\r\n\r\n"),
        CASE(-400, GET "Host: a:80:80\r\n\r\n"),
        CASE(-400, GET "Host: a:+80\r\n\r\n"),
        CASE(-400, GET "Host: a:-1\r\n\r\n"),
        CASE(-400, GET "Host: a: 80\r\n\r\n"),
        CASE(-400, GET "Host: a:65536\r\n\r\n"),
        CASE(ACCEPTED, GET "Host: a:65535\r\n\r\n"),
        CASE(-400, GET "Host: ::1\r\n\r\n"),
        CASE(-400, GET "Host: []\r\n\r\n"),
        CASE(-400, GET "Host: [::1]x\r\n\r\n"),
        CASE(-400, GET "Host: [::1]:x\r\n\r\n"),
        CASE(-400, GET "Host: x[::1]\r\n\r\n"),
        CASE(-400, "GET http://a/ HTTP/1.1\r\n\r\n"),
        CASE(-400, "GET http://a/ HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        CASE(ACCEPTED, "GET / HTTP/1.0\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(the_host_of_an_absolute_target_counts)
{
    static const char text[] = "GET HTTP://good:81/x HTTP/1.1\r\nHost: evil\r\n\r\n";
    struct uw_http_head head;

    CHECK_EQUAL(sizeof text - 1, parse_every_cut(&head, text, sizeof text - 1));
    CHECK_EQUAL(strlen("good:81"), head.host.length);
    CHECK(memcmp(text + head.host.offset, "good:81", head.host.length) == 0);
}

TEST(doubtful_targets)
{
    static const struct attempt attempts[] = {
        CASE(ACCEPTED, "GET //evil/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(ACCEPTED, "GET /%zz%0d%0a HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET a/b HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET ?x HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET \\x HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "CONNECT http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "CONNECT u@a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET http:/a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET http://a\\@b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET http://a:99999/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET file:///etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(doubtful_request_lines)
{
    static const struct attempt attempts[] = {
        CASE(-400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET\v/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET /\fHTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET\xa0/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\t\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\0\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1 Host: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\rHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1\n\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / Http/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/01.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.01\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1,1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/+1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP /1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "GET / HTTP/1.1x\r\nHost: a\r\n\r\n"),
        CASE(-400, "DESCRIBE /x RTSP/1.0\r\n\r\n"),
        CASE(-400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        CASE(-505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        CASE(-400, "\xef\xbb\xbfGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "\x16\x03\x01\x02"),
        CASE(-400, "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, " \r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        CASE(-400, "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(doubtful_header_lines)
{
    static const struct attempt attempts[] = {
        CASE(ACCEPTED, POST "X:: y\r\n\r\n"),  CASE(ACCEPTED, POST "Transfer_Encoding: chunked\r\n\r\n"),
        CASE(-400, POST "X\r\n\r\n"),          CASE(-400, POST ":\r\n\r\n"),
        CASE(-400, POST ": y\r\n\r\n"),        CASE(-400, POST "X Y: z\r\n\r\n"),
        CASE(-400, POST "X\0: y\r\n\r\n"),     CASE(-400, POST "X\r: y\r\n\r\n"),
        CASE(-400, POST "X\x80: y\r\n\r\n"),   CASE(-400, POST "\"X\": y\r\n\r\n"),
        CASE(-400, POST "X=y\r\n\r\n"),        CASE(-400, POST "X: y\r\n\tz\r\n\r\n"),
        CASE(-400, POST "X: y\r\n \r\n\r\n"),  CASE(-400, POST "X: y\0z\r\n\r\n"),
        CASE(-400, POST "X: y\r\r\n\r\n"),     CASE(-400, POST "X: y\n\n"),
        CASE(-400, POST "X: y\r\n\n"),         CASE(-400, POST "X: y\n\r\n"),
        CASE(-400, POST "X: y\r\n\r\r\n"),     CASE(-400, POST "X: y\r\n\rZ"),
        CASE(-400, POST "X: \x1b[2J\r\n\r\n"), CASE(-400, POST "X: y\x7f\r\n\r\n"),
    };

    CHECK_ATTEMPTS(attempts);
}

TEST(a_name_that_only_looks_like_transfer_encoding_frames_nothing)
{
    static const char text[] = POST "Transfer_Encoding: chunked\r\n\r\n";
    struct uw_http_head head;

    CHECK_EQUAL(sizeof text - 1, parse_every_cut(&head, text, sizeof text - 1));
    CHECK(!head.chunked && !head.has_content_length);
}

TEST_MAIN
