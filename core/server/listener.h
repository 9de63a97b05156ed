/* A listening socket, and the properties of its new connections. */
#ifndef UW_SERVER_LISTENER_H
#define UW_SERVER_LISTENER_H

#include "io/loop.h"
#include "server/socket_address.h"

struct uw_protocol;
struct uw_server;
struct uw_tls_context;
struct uw_transport;

struct uw_listener {
    struct uw_operation accept;
    struct uw_operation accept_left; /* once `accept` has ended */
    int taken;                       /* by it */
    struct uw_server *server;
    const struct uw_transport *transport;
    const struct uw_protocol *const
        *protocols;                 /* ended by NULL; the first, unless the transport has agreed upon another */
    struct uw_tls_context *tls;     /* NULL for plain */
    bool inherited;                 /* the service manager keeps the socket: it listens beyond the end of the server */
    char address[UW_ADDRESS_BYTES]; /* numeric; "localhost" for a UNIX socket */
    int port;                       /* 0 for a UNIX socket */
};

#endif
