#include "http/request_start.h"

#include <stdbool.h>

#include "base/clock.h"

#define SECONDS_MIN INT64_C(1000000000) /* the year 2001; smaller numbers are no times of requests */
#define SECONDS_MAX INT64_C(9000000000) /* the year 2255: the nanoseconds fit into 64 bits */
#define THOUSAND 1000

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the digits before the point. Returns the number, or -1. */
static int64_t take_number(const char **at, const char *end)
{
    const char *begin = *at;
    int64_t number = 0;

    while (*at < end && is_digit(**at)) {
        if (number > SECONDS_MAX * THOUSAND * THOUSAND)
            return -1;
        number = number * 10 + (*(*at)++ - '0');
    }
    return *at > begin ? number : -1;
}

/* Returns the nanoseconds of a unit, or 0 when the number is no time in any unit. */
static int64_t unit_ns(int64_t number)
{
    int64_t factor = 1;

    for (int64_t unit = UW_NS_PER_SECOND; unit >= UW_NS_PER_US; unit /= THOUSAND, factor *= THOUSAND)
        if (number >= SECONDS_MIN * factor && number <= SECONDS_MAX * factor)
            return unit;
    return 0;
}

/* Reads a point and the digits after it, if they follow. Returns their nanoseconds. */
static int64_t take_fraction(const char **at, const char *end, int64_t unit)
{
    int64_t ns = 0;

    if (*at == end || **at != '.')
        return 0;
    for ((*at)++; *at < end && is_digit(**at); (*at)++) {
        unit /= 10;
        ns += (**at - '0') * unit;
    }
    return ns;
}

int64_t uw_http_request_start_ns(const char *value, size_t length)
{
    const char *at = value, *end = value + length;
    int64_t number, unit, ns;

    if (length >= 2 && value[0] == 't' && value[1] == '=')
        at += 2;
    number = take_number(&at, end);
    unit = unit_ns(number);
    ns = unit ? number * unit + take_fraction(&at, end, unit) : -1;
    return at == end ? ns : -1;
}
