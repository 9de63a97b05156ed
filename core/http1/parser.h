/* An incremental parser for the head of an HTTP/1.x request (RFC 9112), strict wherever message framing is concerned.
 *
 * The caller collects bytes in one contiguous buffer and calls uw_http_parse whenever more have arrived; parsing goes
 * on where it stopped. Results are offsets into that buffer, so it may move between calls. No allocation, no input or
 * output, no recursion. */
#ifndef UW_HTTP1_PARSER_H
#define UW_HTTP1_PARSER_H

#include "http/head.h"

/* Prepares `head` for a new request; only what has to be is cleared, so it is cheap. `limits` must outlive it. */
void uw_http_head_init(struct uw_http_head *head, const struct uw_http_limits *limits);

/* Parses `bytes[0 .. length)`, of which the first `head->position` have been seen before.
 * Returns the length of the head, including the empty line, when it is complete; 0 when more bytes are needed; or the
 * negated status with which the request is to be refused: -400, -414, -417, -431, -501, -505. */
int uw_http_parse(struct uw_http_head *head, const char *bytes, size_t length);

#endif
