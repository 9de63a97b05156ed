/* How a stream of server-sent events begins (HTML Living Standard, section 9.2): an ordinary response, whose content
 * ends with the connection. */
#ifndef UW_PUSH_EVENT_STREAM_REQUEST_H
#define UW_PUSH_EVENT_STREAM_REQUEST_H

#include <stdbool.h>

#include "http/head.h"
#include "http/response_writer.h"

/* Whether a request asks for one: by GET, and an Accept that names the type. A wildcard is everybody's. */
bool uw_event_stream_is_wanted(const struct uw_http_head *head, const char *bytes);

/* Writes the fields that make a stream of a response 200; to Cache-Control, a list, the application may add lines.
 * Returns what the writer does. */
int uw_event_stream_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk);

#endif
