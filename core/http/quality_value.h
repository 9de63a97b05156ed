/* A q-value is a client's preference for an element of a list (RFC 9110, section 12.4.2). */
#ifndef UW_HTTP_QUALITY_VALUE_H
#define UW_HTTP_QUALITY_VALUE_H

#include "http/field_cursor.h"

#define UW_HTTP_WEIGHT_MAX 1000

/* Reads the weight at the end of an element, in thousandths. 0 means not acceptable. An absent weight is
 * UW_HTTP_WEIGHT_MAX. Returns -1 for other text, with the cursor somewhere in this text. */
int uw_http_read_weight(struct uw_http_cursor *element);

#endif
