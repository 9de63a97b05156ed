/* Makes responses that HTTP/1.1 sends without the application: refusals and 100 (Continue). */
#ifndef UW_HTTP1_SPECIAL_RESPONSE_H
#define UW_HTTP1_SPECIAL_RESPONSE_H

#include <stddef.h>

struct uw_chunk;

/* Returns a whole error response, after which the connection ends, and its number of content bytes. Returns NULL when
 * memory is exhausted. */
struct uw_chunk *uw_http1_refusal(int status, size_t *content_bytes);

/* Returns the informational response 100 (RFC 9110, section 10.1.1), or NULL when memory is exhausted. */
struct uw_chunk *uw_http1_continue(void);

#endif
