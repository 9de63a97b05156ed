#include "base/utf8.h"

#include <stdbool.h>

#include "check.h"
#include "guard.h"

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

TEST_MAIN
