/* Functions that connections of long-lived clients share, whatever the protocol. The protocol's state begins with the
 * client pointer. */
#ifndef UW_PUSH_PUSH_CLIENT_CONNECTION_H
#define UW_PUSH_PUSH_CLIENT_CONNECTION_H

#include "push/push_client.h"

#define UW_DRAIN_AT_ONCE_MAX 100 /* clients; the closes of more are spread over server_context->drain_spread_ns */

static inline struct uw_push_client *uw_push_client_of(const struct uw_connection *connection)
{
    return *(struct uw_push_client **)uw_connection_state(connection);
}

/* Returns a number from 0 to below `spread`, which is different for each client. */
int64_t uw_push_client_scatter(const struct uw_push_client *client, int64_t spread);

/* The server drains: sets the time at which the client is closed. The protocol's timed_out then calls
 * uw_push_client_notify_shutdown, which notifies the handler. Few clients are closed at once. Many closes are spread
 * over time, so that the clients do not all reconnect in one moment. */
void uw_push_client_drain(struct uw_connection *connection);
void uw_push_client_notify_shutdown(struct uw_connection *connection);

/* Ends the connection after all outgoing data. */
void uw_push_client_end_connection(struct uw_connection *connection);

/* The client has closed its side of the connection. Later writes are dropped. Earlier writes are sent, and then the
 * connection ends. */
void uw_push_client_end_of_input(struct uw_connection *connection);

/* Entries for the protocol's table. */
void uw_push_client_connection_opened(struct uw_connection *connection);
void uw_push_client_connection_closed(struct uw_connection *connection);
bool uw_push_client_connection_released(struct uw_connection *connection);
void uw_push_client_connection_discarded(struct uw_connection *connection);
bool uw_push_client_connection_response_in_progress(const struct uw_connection *connection);

#endif
