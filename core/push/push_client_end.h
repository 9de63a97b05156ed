/* The end of a long-lived client's stream: a server that drains, and a client that has ended its input. */
#ifndef UW_PUSH_PUSH_CLIENT_END_H
#define UW_PUSH_PUSH_CLIENT_END_H

#include "push/push_client.h"

#define UW_DRAIN_AT_ONCE_MAX 100 /* clients; the closes of more are spread over server_context->drain_spread_ns */

/* Returns a number from 0 to below `spread`, which is different for each client. */
int64_t uw_push_client_scatter(const struct uw_push_client *client, int64_t spread);

/* The server drains: sets the time at which the client is closed. The protocol's timed_out then calls
 * uw_push_client_notify_shutdown, which notifies the handler. Few clients are closed at once. Many closes are spread
 * over time, so that the clients do not all reconnect in one moment. */
void uw_push_client_drain(struct uw_push_client *client);
void uw_push_client_notify_shutdown(struct uw_push_client *client);

/* Ends the stream after all outgoing data. */
void uw_push_client_end_stream(struct uw_push_client *client);

/* The client has ended its input. Later writes are dropped. Earlier writes are sent, and then the stream ends. */
void uw_push_client_end_of_input(struct uw_push_client *client);

#endif
