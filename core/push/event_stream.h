/* Server-sent events on a stream (HTML Living Standard, section 9.2), after the response head. An application's
 * message is the data of an event. event_stream_frame.h makes events with more fields; a chunk with a complete event is
 * sent as is.
 *
 * The client's input is ignored, and its end ends the stream. The client sees only the end of the stream,
 * whatever the close code, and reconnects by itself. */
#ifndef UW_PUSH_EVENT_STREAM_H
#define UW_PUSH_EVENT_STREAM_H

#include "push/upgrade_kind.h"

/* Clients of a server that ends reconnect after a random delay in this range. */
#define UW_EVENT_STREAM_RETRY_MIN_MS 1000
#define UW_EVENT_STREAM_RETRY_MAX_MS 5000

extern const struct uw_push_client_kind uw_push_client_event_stream;
extern const struct uw_upgrade_kind uw_upgrade_event_stream;

#endif
