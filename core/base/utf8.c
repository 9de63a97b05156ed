#include "base/utf8.h"

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t uw_utf8_character(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char low = 0x80, high = 0xbf;
    size_t size = length > 0 ? length_by_first(bytes[0]) : 0;

    if (size > length)
        return 0;
    if (size > 0 && bytes[0] == 0xe0)
        low = 0xa0; /* a shorter form exists */
    else if (size > 0 && bytes[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (size > 0 && bytes[0] == 0xf0)
        low = 0x90;
    else if (size > 0 && bytes[0] == 0xf4)
        high = 0x8f; /* beyond U+10FFFF */
    for (size_t i = 1; i < size; i++, low = 0x80, high = 0xbf)
        if (bytes[i] < low || bytes[i] > high)
            return 0;
    return size;
}
