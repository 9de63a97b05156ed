/* Implements TLS in builds without OpenSSL: every call fails. */
#include <errno.h>
#include <stdio.h>

#include "transport/tls_connection_info.h"
#include "transport/tls_context.h"
#include "transport/transport.h"

const char *uw_tls_missing(void)
{
    return "TLS was not compiled in, because the build had UPWELL_TLS=no or found no OpenSSL 3";
}

int uw_tls_context_new(struct uw_tls_context **context, const struct uw_tls_settings *settings,
                       char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    (void)settings;
    *context = NULL;
    snprintf(message, UW_TLS_MESSAGE_BYTES_MAX, "%s", uw_tls_missing());
    return -ENOSYS;
}

struct uw_tls_context *uw_tls_context_retain(struct uw_tls_context *context)
{
    return context;
}

void uw_tls_context_release(struct uw_tls_context *context)
{
    (void)context;
}

int64_t uw_tls_context_expiry(const struct uw_tls_context *context)
{
    (void)context;
    return INT64_MAX;
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

/* Without a context no endpoint can be opened, so no other function is called. */
const struct uw_transport uw_transport_tls = {.name = "tls", .open = open_endpoint};
