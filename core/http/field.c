#include "http/field.h"

#include <stdbool.h>

#include "http/field_table.h"

struct field_name {
    size_t length;
    const char *text;
};

static const struct field_name names[UW_FIELD_COUNT] = {
#define FIELD_NAME(constant, name) [UW_FIELD_##constant] = {sizeof name - 1, name},
    UW_HTTP_FIELDS(FIELD_NAME)
#undef FIELD_NAME
};

static unsigned lower(char c)
{
    return (unsigned char)c | 0x20u;
}

static bool same(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i] && (lower(a[i]) != lower(b[i]) || lower(a[i]) < 'a' || lower(a[i]) > 'z'))
            return false;
    return true;
}

static enum uw_http_field candidate(const char *name, size_t length)
{
    return field_slots[FIELD_HASH((unsigned)length, lower(name[0]), lower(name[length / 2]), lower(name[length - 2]),
                                  lower(name[length - 1]))];
}

enum uw_http_field uw_http_field_find(const char *name, size_t length)
{
    enum uw_http_field field;

    if (length < 2)
        return UW_FIELD_OTHER;
    field = candidate(name, length);
    return names[field].length == length && same(names[field].text, name, length) ? field : UW_FIELD_OTHER;
}

const char *uw_http_field_name(enum uw_http_field field)
{
    return names[field].text;
}
