/* Server-sent events on a connection (HTML Living Standard, section 9.2), behind the head of their response. A message
 * of the application's is the data of an event; events with more to them are made by event_stream_frame.h, and any
 * chunk whose bytes are one already goes as it is.
 *
 * The client has nothing to say: what it sends is ignored, and its end ends all. What it is told of an end is that the
 * stream is over, whatever the code; it comes back then by itself. */
#ifndef UW_PUSH_EVENT_STREAM_H
#define UW_PUSH_EVENT_STREAM_H

#include "push/client.h"

/* Clients that leave a server which ends come back after so long, each at another time. */
#define UW_EVENT_STREAM_RETRY_MIN_MS 1000
#define UW_EVENT_STREAM_RETRY_MAX_MS 5000

extern const struct uw_protocol uw_protocol_event_stream;
extern const struct uw_client_kind uw_client_event_stream;

#endif
