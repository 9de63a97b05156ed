#include "http/date.h"

#include <stdio.h>

void uw_http_date(time_t time, char date[UW_HTTP_DATE_BYTES + 1])
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm parts = {0};
    char text[64]; /* room for any int, which the compiler cannot know to be small */

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
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != rendered) {
        rendered = now.tv_sec;
        uw_http_date(rendered, date);
    }
    return date;
}
