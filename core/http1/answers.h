/* What HTTP/1.1 answers by itself: refusals, and leave to send content. */
#ifndef UW_HTTP1_ANSWERS_H
#define UW_HTTP1_ANSWERS_H

#include <stddef.h>

struct uw_chunk;

/* The whole response of an error, after which the connection ends, and how many bytes of content it has. NULL when
 * memory is exhausted. */
struct uw_chunk *uw_http1_refusal(int status, size_t *content_bytes);

/* The informational response 100 (RFC 9110, section 10.1.1); NULL when memory is exhausted. */
struct uw_chunk *uw_http1_continue(void);

#endif
