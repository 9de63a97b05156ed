#include "http/traceparent.h"

#include <stdbool.h>
#include <string.h>

#define VERSION_DIGITS 2
#define TRACE_DIGITS 32
#define PARENT_DIGITS 16
#define FLAG_DIGITS 2

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Whether so many digits are at `*at`, not all of them `invalid`. Moves `*at` behind them and the following byte. */
static bool take_digits(const char **at, size_t count, char invalid)
{
    bool valid = false;

    for (size_t i = 0; i < count; i++) {
        if (!is_digit((*at)[i]))
            return false;
        valid = valid || (*at)[i] != invalid;
    }
    *at += count + 1;
    return valid;
}

static bool has_hyphens(const char *value)
{
    return value[VERSION_DIGITS] == '-' && value[VERSION_DIGITS + TRACE_DIGITS + 1] == '-' &&
           value[VERSION_DIGITS + TRACE_DIGITS + PARENT_DIGITS + 2] == '-';
}

/* Version 00 ends after the flags. */
static bool may_end(const char *value, size_t length)
{
    return length == UW_HTTP_TRACEPARENT_BYTES ||
           (memcmp(value, "00", VERSION_DIGITS) != 0 && value[UW_HTTP_TRACEPARENT_BYTES] == '-');
}

size_t uw_http_traceparent(const char *value, size_t length)
{
    const char *at = value;

    if (length < UW_HTTP_TRACEPARENT_BYTES || !has_hyphens(value) || !may_end(value, length))
        return 0;
    return take_digits(&at, VERSION_DIGITS, 'f') && take_digits(&at, TRACE_DIGITS, '0') &&
                   take_digits(&at, PARENT_DIGITS, '0') && take_digits(&at, FLAG_DIGITS, '\0')
               ? UW_HTTP_TRACEPARENT_BYTES
               : 0;
}
