/* The field Traceparent (W3C Trace Context, section 3.2): "00-", trace-id, "-", parent-id, "-", flags. */
#ifndef UW_HTTP_TRACEPARENT_H
#define UW_HTTP_TRACEPARENT_H

#include <stddef.h>

#define UW_HTTP_TRACEPARENT_BYTES 55

/* Returns the length of the fields of version 00 at the start of the value, or 0 when the value is invalid. Later
 * versions may add fields. */
size_t uw_http_traceparent(const char *value, size_t length);

#endif
