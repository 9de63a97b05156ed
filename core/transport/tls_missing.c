/* Compiled in place of TLS where there is no OpenSSL. */
#include <errno.h>
#include <stdio.h>

#include "transport/tls_context.h"
#include "transport/tls_peer.h"
#include "transport/transport.h"

int uw_tls_context_new(struct uw_tls_context **context, const struct uw_tls_settings *settings,
                       char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    (void)settings;
    *context = NULL;
    snprintf(message, UW_TLS_MESSAGE_BYTES_MAX,
             "TLS was not compiled in: OpenSSL 3 was not found (Debian: apt-get install libssl-dev)");
    return -ENOSYS;
}

struct uw_tls_context *uw_tls_context_hold(struct uw_tls_context *context)
{
    return context;
}

void uw_tls_context_release(struct uw_tls_context *context)
{
    (void)context;
}

const struct uw_tls_peer *uw_endpoint_peer(const struct uw_endpoint *endpoint)
{
    (void)endpoint;
    return NULL;
}

static int open_endpoint(struct uw_endpoint *endpoint)
{
    (void)endpoint;
    return -ENOSYS;
}

/* Without a context nothing can be opened, so nothing else is called. */
const struct uw_transport uw_transport_tls = {.name = "tls", .open = open_endpoint};
