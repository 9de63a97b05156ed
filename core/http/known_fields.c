#include "http/known_fields.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "http/known_fields_perfect_hash.h"

struct field_name {
    size_t length;
    const char *text;
};

static const struct field_name names[UW_FIELD_COUNT] = {
#define FIELD_NAME(constant, name) [UW_FIELD_##constant] = {sizeof name - 1, name},
    UW_HTTP_FIELDS(FIELD_NAME)
#undef FIELD_NAME
};

_Static_assert(UW_FIELD_COUNT <= UINT8_MAX + 1, "a slot holds a field in one byte");

static unsigned lower_case(char c)
{
    return (unsigned char)c | 0x20u;
}

#define WORD_BYTES 8
#define LETTERS UINT64_C(0x4040404040404040) /* bit 6 of each byte: letters have this bit, digits and "-" lack it */

static uint64_t load_word(const char *text)
{
    uint64_t word;

    memcpy(&word, text, WORD_BYTES);
    return word;
}

/* Returns true if two words of eight bytes differ at most in the case of letters. */
static bool same_letters(uint64_t known, uint64_t name)
{
    return ((known ^ name) & ~((known & LETTERS) >> 1)) == 0;
}

static bool same_name(const char *known, const char *name, size_t length)
{
    size_t at = 0;

    if (length < WORD_BYTES) {
        while (at < length && same_letters((unsigned char)known[at], (unsigned char)name[at]))
            at++;
        return at == length;
    }
    for (; at + WORD_BYTES < length; at += WORD_BYTES)
        if (!same_letters(load_word(known + at), load_word(name + at)))
            return false;
    at = length - WORD_BYTES; /* the last word overlaps the word before */
    return same_letters(load_word(known + at), load_word(name + at));
}

static enum uw_http_field field_by_hash(const char *name, size_t length)
{
    return field_slots[FIELD_HASH((unsigned)length, lower_case(name[0]), lower_case(name[length / 2]),
                                  lower_case(name[length - 2]), lower_case(name[length - 1]))];
}

enum uw_http_field uw_http_field_find(const char *name, size_t length)
{
    enum uw_http_field field;

    if (length < 2)
        return UW_FIELD_OTHER;
    field = field_by_hash(name, length);
    return names[field].length == length && same_name(names[field].text, name, length) ? field : UW_FIELD_OTHER;
}

const char *uw_http_field_name(enum uw_http_field field)
{
    return names[field].text;
}
