#include "base/utf8.h"

#include <string.h>

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* RFC 3629: the bounds of the second byte exclude overlong forms, surrogates and code points above U+10FFFF. */
static unsigned char second_low(unsigned char first)
{
    return first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
}

static unsigned char second_high(unsigned char first)
{
    return first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
}

size_t uw_utf8_character(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = length > 0 ? length_by_first(bytes[0]) : 0;

    if (size > length)
        return 0;
    if (size > 1 && (bytes[1] < second_low(bytes[0]) || bytes[1] > second_high(bytes[0])))
        return 0;
    for (size_t i = 2; i < size; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    return size;
}

#define BLOCK_BYTES 32 /* bytes that are checked together, because most text has long runs of ASCII */

static bool is_ascii(const char *text, size_t length)
{
    uint64_t word, all = 0;

    for (size_t i = 0; i < length; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        all |= word;
    }
    return !(all & 0x8080808080808080);
}

/* Returns how many bytes at the start of `text` are ASCII, in steps of eight bytes. */
static size_t ascii_prefix(const char *text, size_t length)
{
    size_t count = 0;

    while (length - count >= BLOCK_BYTES && is_ascii(text + count, BLOCK_BYTES))
        count += BLOCK_BYTES;
    while (length - count >= sizeof(uint64_t) && is_ascii(text + count, sizeof(uint64_t)))
        count += sizeof(uint64_t);
    return count;
}

static bool begin_character(struct uw_utf8 *utf8, unsigned char first)
{
    size_t size = length_by_first(first);

    if (size == 0)
        return false;
    *utf8 =
        (struct uw_utf8){(uint8_t)(size - 1), second_low(first), second_high(first), utf8->beyond_ascii || size > 1};
    return true;
}

static bool continue_character(struct uw_utf8 *utf8, unsigned char byte)
{
    if (byte < utf8->low || byte > utf8->high)
        return false;
    *utf8 = (struct uw_utf8){(uint8_t)(utf8->missing - 1), 0x80, 0xbf, true};
    return true;
}

bool uw_utf8_feed(struct uw_utf8 *utf8, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!utf8->missing)
            i += ascii_prefix(text + i, length - i);
        if (i < length && !(utf8->missing ? continue_character : begin_character)(utf8, (unsigned char)text[i]))
            return false;
    }
    return true;
}

bool uw_utf8_is_text(const char *text, size_t length)
{
    struct uw_utf8 utf8 = {0};

    return uw_utf8_feed(&utf8, text, length) && uw_utf8_is_whole(&utf8);
}
