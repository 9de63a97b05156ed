/* The protocol of a hijacked connection whose descriptor the transport cannot detach (TLS). The application has one end
 * of a socket pair, and the tunnel copies data between the pair and the client. */
#ifndef UW_SERVER_SOCKETPAIR_TUNNEL_H
#define UW_SERVER_SOCKETPAIR_TUNNEL_H

#include "server/connection.h"

#define UW_TUNNEL_BYTES_MAX (64 * 1024) /* on their way to the application; then the client is not read for a while */

extern const struct uw_protocol uw_protocol_tunnel;

struct uw_tunnel;

/* The application's end of a new pair becomes `fd`. Returns NULL when descriptors or memory are exhausted. */
struct uw_tunnel *uw_tunnel_new(struct uw_connection *connection, int *fd);

/* Starts the tunnel on its connection, on which no receive or send is pending. The tunnel lasts until one side ends.
 * The handler must still finish the request. */
void uw_tunnel_begin(struct uw_tunnel *tunnel, struct uw_request *request);

#endif
