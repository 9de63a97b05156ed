/* Maps status codes to their reason phrases (RFC 9110, section 15). */
#ifndef UW_HTTP_STATUS_H
#define UW_HTTP_STATUS_H

#include <stdbool.h>

/* Returns the phrase, or "Unknown" for a code without one. */
const char *uw_http_reason(int status);

/* Returns whether a response with this status never has content: 1xx, 204, 304. */
bool uw_http_bodiless(int status);

#endif
