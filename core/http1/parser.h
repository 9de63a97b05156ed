/* An incremental parser for the head of an HTTP/1.x request (RFC 9112), strict about message framing.
 *
 * The caller collects bytes in one contiguous buffer and calls uw_http_parse whenever more have arrived. The parser
 * continues where it stopped. Results are offsets into the buffer, so the buffer may move between calls. The parser
 * does no I/O and no recursion, and allocates only for many headers. */
#ifndef UW_HTTP1_PARSER_H
#define UW_HTTP1_PARSER_H

#include "http/request_head.h"

/* Prepares `head` for a new request, and clears only the necessary part, which is cheap. `limits` must outlive the
 * head. */
void uw_http_head_init(struct uw_http_head *head, const struct uw_http_limits *limits);

/* Parses `bytes[0 .. length)`; earlier calls have parsed the first `head->position` bytes.
 * Returns the length of the complete head, with the empty line, or 0 when the head needs more bytes. Otherwise returns
 * the negated status of a refusal: -400, -414, -417, -431, -501, -503, -505. */
int uw_http_parse(struct uw_http_head *head, const char *bytes, size_t length);

#endif
