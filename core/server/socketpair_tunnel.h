/* The protocol of a hijacked connection if the transport cannot detach its descriptor (TLS). The application has one
 * end of a socket pair. The tunnel copies data between the pair and the client. */
#ifndef UW_SERVER_SOCKETPAIR_TUNNEL_H
#define UW_SERVER_SOCKETPAIR_TUNNEL_H

#include "server/connection.h"

#define UW_TUNNEL_BYTES_MAX (64 * 1024) /* bytes that wait for the application before reading pauses */

extern const struct uw_protocol uw_protocol_tunnel;

struct uw_tunnel;

/* Creates a tunnel and a socket pair. Stores the application's end in `*fd`, which the caller owns. Returns NULL
 * without descriptors or memory. */
struct uw_tunnel *uw_tunnel_new(struct uw_connection *connection, int *fd);

/* Starts the tunnel. No receive or send may be pending on the connection. The tunnel lasts until one side ends. The
 * handler must still finish the request. */
void uw_tunnel_begin(struct uw_tunnel *tunnel, struct uw_request *request);

#endif
