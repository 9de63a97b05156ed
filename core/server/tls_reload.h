/* Replaces certificates while a server runs. */
#ifndef UW_SERVER_TLS_RELOAD_H
#define UW_SERVER_TLS_RELOAD_H

#include "server/server.h"

/* The listener at `index` (from 0) uses `context` for later connections. The listener must have been opened with a TLS
 * context. Any thread may call this function while the server is open. Returns 0 or -ENOMEM. */
int uw_server_reload_tls(struct uw_server *server, int index, struct uw_tls_context *context);

#endif
