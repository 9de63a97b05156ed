/* The start of a stream of server-sent events (HTML Living Standard, section 9.2): an ordinary response, whose content
 * ends with the connection. */
#ifndef UW_PUSH_EVENT_STREAM_REQUEST_H
#define UW_PUSH_EVENT_STREAM_REQUEST_H

#include <stdbool.h>

#include "http/request_head.h"
#include "http/response_writer.h"

/* Whether a request asks for a stream: a GET whose Accept names the type. A wildcard does not count. */
bool uw_event_stream_is_wanted(const struct uw_http_head *head, const char *bytes);

/* Writes the header fields that make a response 200 a stream. The application may add lines to Cache-Control, which is
 * a list. Returns what the writer does. */
int uw_event_stream_accept(const struct uw_response_writer *writer, struct uw_chunk **chunk);

#endif
