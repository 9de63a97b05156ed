/* The opening handshake of the WebSocket protocol (RFC 6455, section 4.2), by HTTP/1.1. */
#ifndef UW_WEBSOCKET_HANDSHAKE_H
#define UW_WEBSOCKET_HANDSHAKE_H

#include <stdbool.h>

#include "http/head.h"
#include "http/response_writer.h"
#include "websocket/extensions.h"

/* Whether a request asks for a WebSocket, in the one version that there is, and can have one here. `bytes` are what the
 * head's slices point into. */
bool uw_websocket_is_wanted(const struct uw_http_head *head, const char *bytes);

/* Writes the fields that accept it into the head of a response 101, and says what was agreed upon. Returns what the
 * writer does, or -ENOSYS where there is no SHA-1. */
int uw_websocket_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                        const struct uw_http_head *head, const char *bytes, struct uw_deflate_terms *terms);

/* Whether the application's own field of that name would contradict them; or tell of a content, which there is not. */
bool uw_websocket_owns(const char *name, size_t length);

#endif
