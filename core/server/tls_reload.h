/* Reloads certificates while a server runs. */
#ifndef UW_SERVER_TLS_RELOAD_H
#define UW_SERVER_TLS_RELOAD_H

#include "server/server.h"

/* Any thread, while the server is open. The listener with that index (from 0) uses `context` for later connections. It
 * must have been opened with a context, too. Returns 0 or -ENOMEM. */
int uw_server_reload_tls(struct uw_server *server, int index, struct uw_tls_context *context);

#endif
