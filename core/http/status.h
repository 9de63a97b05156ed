/* Reason phrases of status codes (RFC 9110, section 15). */
#ifndef UW_HTTP_STATUS_H
#define UW_HTTP_STATUS_H

#include <stdbool.h>

/* Returns the reason phrase, or "Unknown" for an unknown status. */
const char *uw_http_reason(int status);

/* Returns true if responses with this status never have content: 1xx, 204, 304. */
bool uw_http_bodiless(int status);

#endif
