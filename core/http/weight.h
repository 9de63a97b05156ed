/* How much a client likes an element of a list: its q-value (RFC 9110, section 12.4.2). */
#ifndef UW_HTTP_WEIGHT_H
#define UW_HTTP_WEIGHT_H

#include "http/cursor.h"

#define UW_HTTP_WEIGHT_MAX 1000

/* Reads the weight that ends an element, in thousandths: 0 means not acceptable; absent, it is the greatest. Returns -1
 * where something else stands, somewhere behind the cursor. */
int uw_http_read_weight(struct uw_http_cursor *element);

#endif
