/* Dates in HTTP's preferred form (RFC 9110, section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT". */
#ifndef UW_HTTP_DATE_H
#define UW_HTTP_DATE_H

#include <time.h>

#define UW_HTTP_DATE_BYTES 29

/* Writes the date with a final NUL. */
void uw_http_date(time_t time, char date[UW_HTTP_DATE_BYTES + 1]);

/* The current date, rendered once a second by each thread; valid until the thread's next call. */
const char *uw_http_date_now(void);

#endif
