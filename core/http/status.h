/* Status codes and their reason phrases (RFC 9110, section 15). */
#ifndef UW_HTTP_STATUS_H
#define UW_HTTP_STATUS_H

#include <stdbool.h>

/* The phrase, or "Unknown" for a code that has none. */
const char *uw_http_reason(int status);

/* Whether a response of that status never has content: 1xx, 204, 304. */
bool uw_http_bodiless(int status);

#endif
