#include "http1/chunked.h"

#include "check.h"
#include "guard_page.h"

#define BODY_BYTES_MAX 4096

struct outcome {
    int64_t result; /* bytes consumed, or the refusal */
    size_t length;
    bool done;
    char body[BODY_BYTES_MAX];
};

/* Feeds `text` in pieces of `piece` bytes. */
static void feed(struct outcome *outcome, const char *text, size_t length, size_t piece)
{
    struct uw_http_chunked chunked;
    size_t at = 0;

    *outcome = (struct outcome){0};
    uw_http_chunked_init(&chunked);
    while (at < length && !chunked.done) {
        size_t size = length - at < piece ? length - at : piece;
        const char *data, *bytes = guard_copy(text + at, size);
        size_t data_length;
        int64_t used = uw_http_chunked_read(&chunked, bytes, size, &data, &data_length);

        if (used < 0) {
            outcome->result = used;
            return;
        }
        memcpy(outcome->body + outcome->length, data, data_length);
        outcome->length += data_length;
        at += (size_t)used;
    }
    outcome->result = (int64_t)at;
    outcome->done = chunked.done;
}

static struct outcome decode(const char *text)
{
    struct outcome whole, pieces;

    feed(&whole, text, strlen(text), BODY_BYTES_MAX);
    for (size_t piece = 1; piece < 12; piece++) {
        feed(&pieces, text, strlen(text), piece);
        CHECK_EQUAL(whole.result, pieces.result);
        CHECK_EQUAL(whole.length, pieces.length);
        CHECK(memcmp(whole.body, pieces.body, whole.length) == 0 || whole.result < 0);
    }
    return whole;
}

static void check_body(const char *text, const char *body)
{
    struct outcome outcome = decode(text);

    CHECK(outcome.done);
    CHECK_EQUAL(strlen(body), outcome.length);
    CHECK(memcmp(body, outcome.body, outcome.length) == 0);
}

#define REFUSE(text) CHECK_EQUAL(-400, decode(text).result)

TEST(bodies)
{
    check_body("0\r\n\r\n", "");
    check_body("5\r\nhello\r\n0\r\n\r\n", "hello");
    check_body("5\r\nhello\r\n006\r\n world\r\n0\r\n\r\n", "hello world");
    check_body("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789");
}

TEST(what_follows_is_left_alone)
{
    CHECK_EQUAL(strlen("1\r\na\r\n0\r\n\r\n"), decode("1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n").result);
}

TEST(extensions_and_trailers)
{
    check_body("1;a\r\nx\r\n0;b=c;d=\"e\\\"f\"\r\n\r\n", "x");
    check_body("1\r\nx\r\n0\r\nA: b\r\nContent-Length: 5\r\n\r\n", "x");
    REFUSE("1;\r\nx\r\n");
    REFUSE("1;=b\r\nx\r\n");
    REFUSE("1;a=\r\nx\r\n");
    REFUSE("1;a=\"b\r\nx\r\n");
    REFUSE("1;a\x01\r\nx\r\n");
    REFUSE("0\r\nA b\r\n\r\n");
    REFUSE("0\r\n A: b\r\n\r\n");
    REFUSE("0\r\nA: b\n\r\n");
    REFUSE("0\r\nA: b\x01\r\n\r\n");
}

/* RFC 9112, section 7.1.1: BWS around ";" and "=". */
TEST(white_space_in_extensions)
{
    check_body("1 ;a\r\nx\r\n0\r\n\r\n", "x");
    check_body("1; a=b\r\nx\r\n0\r\n\r\n", "x");
    check_body("1 \t;\t a \t=\t b \t;\t c\r\nx\r\n0\r\n\r\n", "x");
    check_body("1 ; a = \"b c\" ; d\r\nx\r\n0 ; e\r\n\r\n", "x");
}

TEST(white_space_that_belongs_to_no_extension)
{
    REFUSE("1 \r\nx\r\n");
    REFUSE("1;a \r\nx\r\n");
    REFUSE("1;a=b \r\nx\r\n");
    REFUSE("1;a=\"b\"\t\r\nx\r\n");
    REFUSE("1; \r\nx\r\n");
    REFUSE("1;a= \r\nx\r\n");
    REFUSE("1; ;a\r\nx\r\n");
    REFUSE("1 1\r\nx\r\n");
    REFUSE("1 =a\r\nx\r\n");
    REFUSE("1 a\r\nx\r\n");
    REFUSE("1;a b\r\nx\r\n");
    REFUSE("1;a=b c\r\nx\r\n");
    REFUSE("1;a=b =c\r\nx\r\n");
    REFUSE("1;a=\"b\" =c\r\nx\r\n");
    REFUSE("1;a = = b\r\nx\r\n");
    REFUSE("1 \n;a\r\nx\r\n");
}

TEST(white_space_counts_as_extension)
{
    static char text[UW_CHUNK_EXTENSION_BYTES_MAX + 100];
    struct outcome outcome;
    int length = snprintf(text, sizeof text, "1%*s;a\r\nx\r\n", UW_CHUNK_EXTENSION_BYTES_MAX, "");

    feed(&outcome, text, (size_t)length, 512);
    CHECK_EQUAL(-400, outcome.result);
}

TEST(sizes)
{
    REFUSE("\r\n");
    REFUSE("g\r\n");
    REFUSE("0x1\r\nx\r\n");
    REFUSE("-1\r\nx\r\n");
    REFUSE("+1\r\nx\r\n");
    REFUSE(" 1\r\nx\r\n");
    REFUSE("1 \r\nx\r\n");
    REFUSE("1\nx\r\n");
    REFUSE("1\rx\r\n");
    REFUSE("1\r\nxy\r\n");
    REFUSE("1\r\nx\n0\r\n\r\n");
    REFUSE("1\r\nx0\r\n\r\n");
    REFUSE("fffffffffffffffff\r\n");
    REFUSE("00000000000000001\r\n");
    REFUSE("0\r\n\n");
}

TEST(doubtful_size_lines)
{
    REFUSE("1\t\r\nx\r\n");
    REFUSE("\t1\r\nx\r\n");
    REFUSE("1 \nx\r\n0\r\n\r\n");
    REFUSE("1;a=\"b\"c\r\nx\r\n");
    REFUSE("1;a=b=c\r\nx\r\n");
    REFUSE("1;a=\"\\\r\nx\r\n");
    REFUSE("1;a\nx\r\n0\r\n\r\n");
    REFUSE("1;a\rx\r\n");
    REFUSE(";a\r\n");
    REFUSE("1_0\r\n");
    REFUSE("1,0\r\n");
    REFUSE("1.0\r\n");
    REFUSE("1h\r\n");
    REFUSE("\"1\"\r\nx\r\n");
    REFUSE("1\r\r\nx\r\n");
    REFUSE("1\r\nx\r\n\r\n");
    REFUSE("1\r\nx\r\r\n");
    REFUSE("1\r\nx\n\r\n");
    REFUSE("0\n\r\n");
    REFUSE("0\r\n\rX");
    REFUSE("0\r\n\r\r\n");
    REFUSE("0\r\nA : b\r\n\r\n");
    REFUSE("0\r\n: b\r\n\r\n");
    REFUSE("0\r\nA: b\r\n c\r\n\r\n");
    REFUSE("0\r\nGET / HTTP/1.1\r\n\r\n");
}

TEST(a_nul_is_refused_everywhere_but_in_data)
{
    static const char text[] = "1;a=\"b\"\r\nx\r\n0\r\nA: b\r\n\r\n";
    size_t data_at = strlen("1;a=\"b\"\r\n");

    for (size_t i = 0; i < sizeof text - 1; i++) {
        struct outcome outcome;
        char changed[sizeof text];

        memcpy(changed, text, sizeof text);
        changed[i] = '\0';
        feed(&outcome, changed, sizeof text - 1, BODY_BYTES_MAX);
        CHECK_EQUAL(i == data_at ? (int64_t)sizeof text - 1 : -400, outcome.result);
    }
}

TEST(the_largest_sizes)
{
    struct uw_http_chunked chunked;
    const char *data;
    size_t data_length;

    uw_http_chunked_init(&chunked);
    CHECK_EQUAL(18, uw_http_chunked_read(&chunked, "7fffffffffffffff\r\n", 18, &data, &data_length));
    CHECK_EQUAL(INT64_MAX, chunked.left);
    REFUSE("8000000000000000\r\n");
    REFUSE("ffffffffffffffff\r\n");
}

TEST(bounds)
{
    static char text[UW_CHUNK_TRAILER_BYTES_MAX + 100];
    struct outcome outcome;
    int length = snprintf(text, sizeof text, "1;%0*d\r\nx\r\n", UW_CHUNK_EXTENSION_BYTES_MAX, 0);

    feed(&outcome, text, (size_t)length, 512);
    CHECK_EQUAL(-400, outcome.result);
    length = snprintf(text, sizeof text, "0\r\nA: %0*d\r\n\r\n", UW_CHUNK_TRAILER_BYTES_MAX, 0);
    feed(&outcome, text, (size_t)length, 512);
    CHECK_EQUAL(-431, outcome.result);
}

/* A body of `count` chunks of `size` bytes, each with an extension of `extension` bytes. Returns 0 or the refusal. */
static int64_t read_extended(int count, int size, int extension)
{
    static char chunk[65536 + 2048];
    struct uw_http_chunked chunked;
    int length = snprintf(chunk, sizeof chunk, "%x;%0*d\r\n%0*d\r\n", (unsigned)size, extension, 0, size, 0);

    uw_http_chunked_init(&chunked);
    for (int i = 0; i < count; i++) {
        const char *data;
        size_t data_length;

        for (int64_t at = 0, used; at < length; at += used) {
            used = uw_http_chunked_read(&chunked, chunk + at, (size_t)(length - at), &data, &data_length);
            if (used < 0)
                return used;
        }
    }
    return 0;
}

#define SIGNATURE 80 /* chunk-signature= and 64 digits; the end of the line makes it 81 */

TEST(each_chunk_of_a_large_body_may_be_signed)
{
    CHECK_EQUAL(0, read_extended(1000, 65536, SIGNATURE));
    CHECK_EQUAL(0, read_extended(1000, 8192, SIGNATURE));
    CHECK_EQUAL(0, read_extended(1000, (SIGNATURE + 1) * UW_CHUNK_DATA_BYTES_PER_EXTENSION_BYTE, SIGNATURE));
}

TEST(extensions_do_not_outweigh_the_data)
{
    int enough = UW_CHUNK_EXTENSION_BYTES_MAX / (SIGNATURE + 1);

    CHECK_EQUAL(0, read_extended(enough, 1, SIGNATURE));
    CHECK_EQUAL(-400, read_extended(enough + 1, 1, SIGNATURE));
    CHECK_EQUAL(-400, read_extended(1000, 1000, SIGNATURE));
}

TEST(no_amount_of_data_allows_a_longer_extension)
{
    CHECK_EQUAL(0, read_extended(10, 65536, UW_CHUNK_EXTENSION_BYTES_MAX - 1));
    CHECK_EQUAL(-400, read_extended(10, 65536, UW_CHUNK_EXTENSION_BYTES_MAX));
}

TEST_MAIN
