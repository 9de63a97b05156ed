/* The WebSocket protocol on a stream (RFC 6455), after the response 101.
 *
 * The protocol assembles messages from frames, checks them, and posts them to the handler in order. An error ends the
 * stream with its close code, after earlier messages have been served. */
#ifndef UW_WEBSOCKET_WEBSOCKET_PROTOCOL_H
#define UW_WEBSOCKET_WEBSOCKET_PROTOCOL_H

#include "push/upgrade_kind.h"
#include "server/module.h"

#define UW_PONG_NS (10 * UW_NS_PER_SECOND)   /* for an answer to a ping */
#define UW_CLOSING_NS (2 * UW_NS_PER_SECOND) /* for a client's close frame, after the server's */

extern const struct uw_push_client_kind uw_push_client_websocket;
extern const struct uw_upgrade_kind uw_upgrade_websocket;
extern const struct uw_module uw_module_websocket;

#endif
