/* Media ranges of the Accept field (RFC 9110, section 12.5.1). */
#ifndef UW_HTTP_MEDIA_RANGE_H
#define UW_HTTP_MEDIA_RANGE_H

#include <stdbool.h>

#include "http/request_head.h"

/* Returns whether an Accept field names `type`, in lower case and without parameters, with a weight above 0. A wildcard
 * does not name it. */
bool uw_http_names_media_type(const struct uw_http_head *head, const char *bytes, const char *type);

#endif
