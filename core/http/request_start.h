/* The field X-Request-Start: the time when the first proxy got a request. */
#ifndef UW_HTTP_REQUEST_START_H
#define UW_HTTP_REQUEST_START_H

#include <stddef.h>
#include <stdint.h>

/* Returns the time in nanoseconds since 1970, or -1 when the value is no such time. Proxies write it with or without
 * "t=", in seconds ("t=1512379167.574", nginx), milliseconds (Heroku) or microseconds (Apache). The number of digits
 * tells the unit. */
int64_t uw_http_request_start_ns(const char *value, size_t length);

#endif
