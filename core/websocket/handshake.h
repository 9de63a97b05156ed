/* The opening handshake of the WebSocket protocol (RFC 6455, section 4.2), by HTTP/1.1. */
#ifndef UW_WEBSOCKET_HANDSHAKE_H
#define UW_WEBSOCKET_HANDSHAKE_H

#include <stdbool.h>

#include "http/request_head.h"
#include "http/response_writer.h"
#include "websocket/extensions.h"

/* Whether a request asks for a WebSocket in the supported version, and may have one. The head's slices point into
 * `bytes`. */
bool uw_websocket_is_wanted(const struct uw_http_head *head, const char *bytes);

/* Whether a request asks for a WebSocket in another version. The response is then 426 with the fields that
 * uw_websocket_write_version writes (RFC 6455, section 4.4; RFC 9110, section 15.5.22). */
bool uw_websocket_is_other_version(const struct uw_http_head *head, const char *bytes);
int uw_websocket_write_version(const struct uw_response_writer *writer, struct uw_chunk **chunk);

/* Writes the accepting header fields into the head of a response 101, and returns the agreed terms in `terms`. Returns
 * what the writer does, or -ENOSYS without SHA-1. */
int uw_websocket_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                        const struct uw_http_head *head, const char *bytes, struct uw_deflate_terms *terms);

#endif
