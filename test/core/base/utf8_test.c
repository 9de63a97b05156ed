#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "guard_page.h"

static size_t character(const char *text)
{
    return uw_utf8_character(guard_copy(text, strlen(text)), strlen(text));
}

TEST(characters)
{
    CHECK_EQUAL(1, character("a"));
    CHECK_EQUAL(1, character("ab"));
    CHECK_EQUAL(2, character("\xc2\x80"));
    CHECK_EQUAL(2, character("\xdf\xbf"));
    CHECK_EQUAL(3, character("\xe0\xa0\x80"));
    CHECK_EQUAL(3, character("\xed\x9f\xbf"));
    CHECK_EQUAL(3, character("\xef\xbf\xbf"));
    CHECK_EQUAL(4, character("\xf0\x90\x80\x80"));
    CHECK_EQUAL(4, character("\xf4\x8f\xbf\xbf"));
    CHECK_EQUAL(1, uw_utf8_character("", 1));
}

TEST(other_bytes)
{
    static const char *const texts[] = {
        "",
        "\x80",
        "\xbf",
        "\xc2",
        "\xc2 ",
        "\xc0\xaf",
        "\xc1\xbf",
        "\xe0\x80",
        "\xe0\x9f\xbf",
        "\xe1\x80",
        "\xe1\x80 ",
        "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf1\x80\x80",
        "\xf1  ",
        "\xf5\x80\x80\x80",
        "\xf4\x90\x80\x80",
        "\xff",
        "\xc2\xc2",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_EQUAL(0, character(texts[i]));
}

/* The encoder below is the definition: what it makes of each code point is a character, and all there are. */
static size_t encode(unsigned point, char *text)
{
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    for (size_t i = length; i-- > 1; point >>= 6)
        text[i] = (char)(0x80 | (point & 0x3f));
    text[0] = (char)(length == 1 ? point : (0xf00u >> length) | point);
    return length;
}

TEST(every_code_point)
{
    char text[5] = "";

    for (unsigned point = 1; point < 0x120000; point++) {
        size_t length = encode(point, text);
        bool is_character = point < 0x110000 && (point < 0xd800 || point > 0xdfff);

        if (uw_utf8_character(text, length) != (is_character ? length : 0)) {
            check_failures++;
            printf("U+%04X\n", point);
        }
    }
}

/* In pieces of each size the same is said as of the whole. */
static bool feed(const char *text, size_t length, size_t piece, bool *whole)
{
    struct uw_utf8 utf8 = {0};

    for (size_t at = 0; at < length; at += piece) {
        size_t count = length - at < piece ? length - at : piece;

        if (!uw_utf8_feed(&utf8, guard_copy(text + at, count), count))
            return false;
    }
    *whole = uw_utf8_is_whole(&utf8);
    return true;
}

TEST(texts_in_pieces)
{
    static const char text[] = "abcdefghijkl \xc3\xa4 mnopqrstuvwxyz \xe2\x82\xac \xf0\x9f\x98\x80 0123456789";
    bool whole;

    for (size_t piece = 1; piece < sizeof text; piece++) {
        CHECK(feed(text, sizeof text - 1, piece, &whole) && whole);
        CHECK(feed("abcdefghijklmnop\xe2\x82", 18, piece, &whole) && !whole);
        CHECK(!feed("abcdefghijklmnop\xe2\x28\xa1", 19, piece, &whole));
        CHECK(!feed("abcdefgh\xed\xa0\x80", 11, piece, &whole));
        CHECK(!feed("abcdefgh\xff", 9, piece, &whole));
        CHECK(!feed("\xc3\xa4\xc0\xaf", 4, piece, &whole));
    }
}

/* At the first byte that no text has there, though more of it is to come. */
TEST(texts_fail_at_once)
{
    struct uw_utf8 utf8 = {0};

    CHECK(uw_utf8_feed(&utf8, "\xf4", 1));
    CHECK(!uw_utf8_feed(&utf8, "\x90", 1));
}

/* Wherever it stands among blocks, eights and single bytes. */
TEST(one_byte_beyond_ascii)
{
    char text[100];

    memset(text, 'a', sizeof text);
    for (size_t length = 0; length <= sizeof text; length++) {
        CHECK(uw_utf8_is_text(text, length));
        for (size_t at = 0; at < length; at++) {
            text[at] = '\xff';
            CHECK(!uw_utf8_is_text(text, length));
            text[at] = 'a';
        }
    }
}

/* Whatever follows it, in the same piece or in another. */
TEST(a_character_beyond_ascii_is_not_forgotten)
{
    char text[40];

    memset(text, 'a', sizeof text);
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct uw_utf8 ascii = {0}, other = {0};

        for (size_t at = 0; at + piece <= sizeof text; at += piece) {
            CHECK(uw_utf8_feed(&ascii, text, piece));
            CHECK(at || (uw_utf8_feed(&other, "\xc3", 1) && uw_utf8_feed(&other, "\xa4", 1)));
            CHECK(uw_utf8_feed(&other, text, piece));
        }
        CHECK(!ascii.beyond_ascii);
        CHECK(other.beyond_ascii);
    }
}

/* Each code point that the encoder makes, and each surrogate that it must not. */
TEST(all_code_points_in_a_text)
{
    char text[4];
    bool whole;

    for (unsigned point = 0; point <= 0x10ffff; point++) {
        size_t length = encode(point, text);
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        struct uw_utf8 utf8 = {0};

        whole = uw_utf8_feed(&utf8, text, length) && uw_utf8_is_whole(&utf8);
        if (whole == surrogate)
            CHECK_EQUAL(-1, point);
    }
}

TEST_MAIN
