/* What the connections of clients that stay have in common, whatever the protocol, whose state begins with the
 * client. */
#ifndef UW_PUSH_CLIENT_CONNECTION_H
#define UW_PUSH_CLIENT_CONNECTION_H

#include "push/client.h"

static inline struct uw_client *uw_client_of(const struct uw_connection *connection)
{
    return *(struct uw_client **)uw_connection_state(connection);
}

/* Somewhere from 0 to below `spread`, and elsewhere for the next client. */
int64_t uw_client_scatter(const struct uw_client *client, int64_t spread);

/* The server drains: sets the time at which the client leaves, by the protocol's timed_out, in which the handler is
 * told. Clients do not all leave, and come back to other servers, in one moment. */
void uw_client_drain(struct uw_connection *connection);
void uw_client_leave(struct uw_connection *connection);

/* Ends the connection behind what is outgoing: all has been said. */
void uw_client_end_connection(struct uw_connection *connection);

/* For the protocol's table. */
void uw_client_connection_opened(struct uw_connection *connection);
void uw_client_connection_closed(struct uw_connection *connection);
bool uw_client_connection_released(struct uw_connection *connection);
void uw_client_connection_discarded(struct uw_connection *connection);
bool uw_client_connection_is_answering(const struct uw_connection *connection);

#endif
