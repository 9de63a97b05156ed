#include "compression/deflate.h"

#include <errno.h>

#include "check.h"
#include "guard_page.h"

#define MANY (1024 * 1024)

static struct uw_deflate *deflate;

static char *repeated(size_t length)
{
    char *text = malloc(length);

    for (size_t i = 0; text && i < length; i++)
        text[i] = "upwell "[i % 7];
    return text;
}

/* Is compressed and decompressed again. Returns the length between. */
static long round_trip(const char *bytes, size_t length, int window_bits)
{
    char *result, *copy;
    long compressed = uw_deflate_compress(deflate, window_bits, bytes, length, &result);

    if (compressed < 0)
        return compressed;
    copy = malloc((size_t)compressed);
    memcpy(copy, result, (size_t)compressed);
    CHECK_EQUAL(length, uw_deflate_decompress(deflate, copy, (size_t)compressed, length, &result));
    CHECK(memcmp(bytes, result, length) == 0);
    CHECK_EQUAL(-E2BIG, uw_deflate_decompress(deflate, copy, (size_t)compressed, length - 1, &result));
    free(copy);
    return compressed;
}

TEST(round_trips)
{
    char *text = repeated(MANY);

    deflate = uw_deflate_new();
    for (int bits = 9; bits <= 15; bits++)
        for (size_t length = 128; length <= MANY; length *= 8)
            CHECK(round_trip(text, length, bits) > 0);
    uw_deflate_free(deflate);
    free(text);
}

TEST(what_is_not_worth_it)
{
    char noise[1000], *result, *text = repeated(1000);

    deflate = uw_deflate_new();
    srand(1);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)rand();
    CHECK_EQUAL(-1, uw_deflate_compress(deflate, 15, noise, sizeof noise, &result));
    CHECK_EQUAL(-1, uw_deflate_compress(deflate, 8, text, 1000, &result)); /* zlib has no such window */
    CHECK(round_trip(text, 1000, 15) > 0);                                 /* and goes on */
    uw_deflate_free(deflate);
    free(text);
}

/* The examples of RFC 7692, section 7.2.3. */
TEST(examples)
{
    static const struct {
        const char *bytes;
        size_t length;
    } hello[] = {
        {"\xf2\x48\xcd\xc9\xc9\x07\x00", 7},                          /* one block */
        {"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11},         /* not compressed */
        {"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8},                      /* with BFINAL */
        {"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13}, /* two blocks */
    };
    char *result;

    deflate = uw_deflate_new();
    for (size_t i = 0; i < sizeof hello / sizeof *hello; i++) {
        const char *bytes = guard_copy(hello[i].bytes, hello[i].length);

        CHECK_EQUAL(5, uw_deflate_decompress(deflate, bytes, hello[i].length, 100, &result));
        CHECK(memcmp("Hello", result, 5) == 0);
    }
    CHECK_EQUAL(0, uw_deflate_decompress(deflate, "\x00", 1, 100, &result));
    CHECK_EQUAL(0, uw_deflate_decompress(deflate, "\x01", 1, 100, &result)); /* the last block is one with BFINAL */
    CHECK_EQUAL(5, uw_deflate_decompress(deflate, "\x00\x05\x00\xfa\xffHello\x01", 11, 5, &result));
    uw_deflate_free(deflate);
}

TEST(what_is_no_message)
{
    char *result;

    deflate = uw_deflate_new();
    CHECK_EQUAL(-EBADMSG, uw_deflate_decompress(deflate, "\xff\xff\xff", 3, 100, &result));
    CHECK_EQUAL(-EBADMSG, uw_deflate_decompress(deflate, "\x07garbage", 8, 100, &result));
    CHECK_EQUAL(-EBADMSG, uw_deflate_decompress(deflate, "", 0, 100, &result));
    CHECK_EQUAL(-EBADMSG, uw_deflate_decompress(deflate, "\x00\x09\x00\xf6\xff\x48", 6, 100, &result)); /* cut */
    CHECK_EQUAL(5, uw_deflate_decompress(deflate, "\xf2\x48\xcd\xc9\xc9\x07\x00", 7, 5, &result));      /* goes on */
    uw_deflate_free(deflate);
}

/* A few bytes that would become a thousand times as many are not: and what one message has taken is given back. */
TEST(bombs)
{
    size_t length = 64 * MANY;
    char *zeros = calloc(1, length), *result, *bomb;
    long compressed;

    deflate = uw_deflate_new();
    compressed = uw_deflate_compress(deflate, 15, zeros, length, &result);
    CHECK(compressed > 0 && (size_t)compressed < length / 100);
    bomb = malloc((size_t)compressed);
    memcpy(bomb, result, (size_t)compressed);
    CHECK_EQUAL(-E2BIG, uw_deflate_decompress(deflate, bomb, (size_t)compressed, MANY, &result));
    CHECK_EQUAL(5, uw_deflate_decompress(deflate, "\xf2\x48\xcd\xc9\xc9\x07\x00", 7, MANY, &result));
    uw_deflate_free(deflate);
    free(bomb);
    free(zeros);
}

TEST_MAIN
