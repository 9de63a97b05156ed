/* A protocol of its own for a connection that the application has for itself where the transport cannot hand out the
 * descriptor: the application has one end of a socket pair, and what either side writes is carried to the other. */
#ifndef UW_SERVER_RELAY_H
#define UW_SERVER_RELAY_H

#include "server/connection.h"

#define UW_RELAY_BYTES_MAX (64 * 1024) /* on their way to the application; then the client is not read for a while */

extern const struct uw_protocol uw_protocol_relay;

struct uw_relay;

/* The application's end of a new pair becomes `fd`. Returns NULL when descriptors or memory are exhausted. */
struct uw_relay *uw_relay_new(struct uw_connection *connection, int *fd);

/* The connection, on which nothing is being received or sent, is the relay's from now on, until one side ends. The
 * handler still has to finish the request. */
void uw_relay_begin(struct uw_relay *relay, struct uw_request *request);

#endif
