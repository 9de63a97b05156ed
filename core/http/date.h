/* Parses and writes dates of HTTP (RFC 9110, section 5.6.7), in the preferred form "Sun, 06 Nov 1994 08:49:37 GMT". */
#ifndef UW_HTTP_DATE_H
#define UW_HTTP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_HTTP_DATE_BYTES 29
#define UW_HTTP_DATE_MIN INT64_C(-62167219200) /* Sat, 01 Jan 0000 00:00:00 GMT */
#define UW_HTTP_DATE_MAX INT64_C(253402300799) /* Fri, 31 Dec 9999 23:59:59 GMT */

/* Writes the date with a final NUL. A date out of range becomes the first or the last date of HTTP. */
void uw_http_date(time_t time, char date[UW_HTTP_DATE_BYTES + 1]);

/* Parses a date in any of the three forms. Returns false for an invalid date, and does not change `*time`. */
bool uw_http_date_parse(const char *text, size_t length, time_t *time);

/* Returns the current date, valid until the thread's next call. Each thread renders the date once a second. */
const char *uw_http_date_now(void);

#endif
