#include "http/date.h"

#include <stdio.h>

#include "http/field_cursor.h"

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char long_day_ends[7][7] = {"day", "day", "sday", "nesday", "rsday", "day", "urday"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* A file may have any date. HTTP dates have years of four digits. */
static time_t limit_year(time_t time)
{
    if (time < UW_HTTP_DATE_MIN)
        return UW_HTTP_DATE_MIN;
    return time > UW_HTTP_DATE_MAX ? UW_HTTP_DATE_MAX : time;
}

void uw_http_date(time_t time, char date[UW_HTTP_DATE_BYTES + 1])
{
    struct tm parts = {0};
    char text[64]; /* fits any int, because the compiler does not know the ranges */

    time = limit_year(time);
    (void)gmtime_r(&time, &parts);
    snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[parts.tm_wday], parts.tm_mday,
             months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    text[UW_HTTP_DATE_BYTES] = '\0';
    for (int i = 0; i <= UW_HTTP_DATE_BYTES; i++)
        date[i] = text[i];
}

const char *uw_http_date_now(void)
{
    static _Thread_local char date[UW_HTTP_DATE_BYTES + 1];
    static _Thread_local time_t rendered = -1;
    time_t now = time(NULL);

    if (now != rendered) {
        rendered = now;
        uw_http_date(rendered, date);
    }
    return date;
}

/* Reads a number of exactly `digits` digits. */
static bool read_digits(struct uw_http_cursor *cursor, size_t digits, int *number)
{
    int64_t value;
    bool complete = uw_http_read_number(cursor, &value) == digits;

    *number = complete ? (int)value : 0;
    return complete;
}

static bool read_month(struct uw_http_cursor *cursor, struct tm *parts)
{
    for (parts->tm_mon = 0; parts->tm_mon < 12; parts->tm_mon++)
        if (uw_http_skip_text(cursor, months[parts->tm_mon]))
            return true;
    return false;
}

static bool read_clock(struct uw_http_cursor *cursor, struct tm *parts)
{
    return read_digits(cursor, 2, &parts->tm_hour) && uw_http_skip_text(cursor, ":") &&
           read_digits(cursor, 2, &parts->tm_min) && uw_http_skip_text(cursor, ":") &&
           read_digits(cursor, 2, &parts->tm_sec);
}

/* Reads ", 06 Nov 1994 08:49:37 GMT". */
static bool read_preferred(struct uw_http_cursor cursor, struct tm *parts)
{
    int year;

    if (!(uw_http_skip_text(&cursor, ", ") && read_digits(&cursor, 2, &parts->tm_mday) &&
          uw_http_skip_text(&cursor, " ") && read_month(&cursor, parts) && uw_http_skip_text(&cursor, " ") &&
          read_digits(&cursor, 4, &year) && uw_http_skip_text(&cursor, " ") && read_clock(&cursor, parts)))
        return false;
    parts->tm_year = year - 1900;
    return uw_http_skip_text(&cursor, " GMT") && cursor.at == cursor.end;
}

/* RFC 9110, section 5.6.7: a year of two digits is at most 50 years in the future. */
static int complete_year(int year)
{
    struct tm now = {0};
    time_t seconds = time(NULL);

    (void)gmtime_r(&seconds, &now);
    year += now.tm_year - now.tm_year % 100;
    if (year > now.tm_year + 50)
        return year - 100;
    return year <= now.tm_year - 50 ? year + 100 : year;
}

/* Reads "day, 06-Nov-94 08:49:37 GMT". */
static bool read_rfc850(struct uw_http_cursor cursor, int day, struct tm *parts)
{
    int year;

    if (!(uw_http_skip_text(&cursor, long_day_ends[day]) && uw_http_skip_text(&cursor, ", ") &&
          read_digits(&cursor, 2, &parts->tm_mday) && uw_http_skip_text(&cursor, "-") && read_month(&cursor, parts) &&
          uw_http_skip_text(&cursor, "-") && read_digits(&cursor, 2, &year) && uw_http_skip_text(&cursor, " ") &&
          read_clock(&cursor, parts)))
        return false;
    parts->tm_year = complete_year(year);
    return uw_http_skip_text(&cursor, " GMT") && cursor.at == cursor.end;
}

/* Reads " Nov  6 08:49:37 1994". */
static bool read_asctime(struct uw_http_cursor cursor, struct tm *parts)
{
    int year;

    if (!uw_http_skip_text(&cursor, " ") || !read_month(&cursor, parts) || !uw_http_skip_text(&cursor, " "))
        return false;
    if (!read_digits(&cursor, uw_http_skip_text(&cursor, " ") ? 1 : 2, &parts->tm_mday) ||
        !uw_http_skip_text(&cursor, " ") || !read_clock(&cursor, parts) || !uw_http_skip_text(&cursor, " ") ||
        !read_digits(&cursor, 4, &year))
        return false;
    parts->tm_year = year - 1900;
    return cursor.at == cursor.end;
}

/* timegm(3) normalizes 30 February to 1 or 2 March, so a changed field shows an invalid date. A leap second counts as
 * the next second. */
static bool is_valid_date(const struct tm *parts)
{
    struct tm normalized = *parts;

    normalized.tm_sec = 0;
    (void)timegm(&normalized);
    return parts->tm_mday == normalized.tm_mday && parts->tm_mon == normalized.tm_mon && parts->tm_hour < 24 &&
           parts->tm_min < 60 && parts->tm_sec <= 60;
}

bool uw_http_date_parse(const char *text, size_t length, time_t *time)
{
    struct uw_http_cursor cursor = uw_http_cursor(text, length);
    struct tm parts = {0};
    int day = 0;

    while (day < 7 && !uw_http_skip_text(&cursor, days[day]))
        day++;
    if (day == 7 ||
        !(read_preferred(cursor, &parts) || read_rfc850(cursor, day, &parts) || read_asctime(cursor, &parts)) ||
        !is_valid_date(&parts))
        return false;
    *time = timegm(&parts);
    return true;
}
