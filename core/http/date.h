/* Parses and writes HTTP dates (RFC 9110, section 5.6.7). Written dates have the form IMF-fixdate: "Sun, 06 Nov 1994
 * 08:49:37 GMT". */
#ifndef UW_HTTP_DATE_H
#define UW_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_HTTP_DATE_BYTES 29
#define UW_HTTP_DATE_MIN INT64_C(-62167219200) /* Sat, 01 Jan 0000 00:00:00 GMT */
#define UW_HTTP_DATE_MAX INT64_C(253402300799) /* Fri, 31 Dec 9999 23:59:59 GMT */

/* Writes the date with a NUL. A date out of range becomes UW_HTTP_DATE_MIN or UW_HTTP_DATE_MAX. */
void uw_http_date(time_t time, char date[UW_HTTP_DATE_BYTES + 1]);

/* Parses a date in any of the three forms. Returns false for an invalid date, without a change of `*time`. */
bool uw_http_date_parse(const char *text, size_t length, time_t *time);

/* Returns the current date, valid until the thread's next call. Each thread formats the date at most once a second. */
const char *uw_http_date_now(void);

#endif
