/* Certificates that are renewed while a server runs. */
#ifndef UW_SERVER_RENEWAL_H
#define UW_SERVER_RENEWAL_H

#include "server/server.h"

/* Any thread, while the server is open: the listener that was opened as the one with that index, from 0, serves whom it
 * accepts from then on with `context`; it was opened with one, too. Returns 0 or -ENOMEM. */
int uw_server_renew(struct uw_server *server, int index, struct uw_tls_context *context);

#endif
