/* The WebSocket protocol on a connection (RFC 6455), from the answer 101 on.
 *
 * Messages are put together from their frames, checked, and told to the handler in order; what is wrong ends the
 * connection with the close code for it, after the messages before have been served. */
#ifndef UW_WEBSOCKET_WEBSOCKET_H
#define UW_WEBSOCKET_WEBSOCKET_H

#include "push/client.h"

#define UW_PONG_NS (10 * UW_NS_PER_SECOND)   /* for an answer to a ping */
#define UW_CLOSING_NS (2 * UW_NS_PER_SECOND) /* for a client's close frame, after the server's */

extern const struct uw_protocol uw_protocol_websocket;
extern const struct uw_client_kind uw_client_websocket;

#endif
