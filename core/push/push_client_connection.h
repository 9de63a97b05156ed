/* A connection that a long-lived client has to itself, after an upgrade of HTTP/1: it carries the client's stream. */
#ifndef UW_PUSH_PUSH_CLIENT_CONNECTION_H
#define UW_PUSH_PUSH_CLIENT_CONNECTION_H

#include "push/push_client.h"
#include "server/connection.h"

/* Attaches the client to the connection, whose last response is being sent. Later writes follow that response. They
 * wait until the handler has served UW_PUSH_OPENED, so that subscriptions made there miss no message. The connection
 * may be closed already; it is closed when memory is exhausted. */
void uw_push_client_attach(struct uw_push_client *client, struct uw_connection *connection);

/* Switches the client's connection to its protocol. `ahead` has bytes already received from the client. */
void uw_push_client_begin(struct uw_push_client *client, const char *ahead, size_t length);

#endif
