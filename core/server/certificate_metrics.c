#include "server/certificate_metrics.h"

#include "metrics/metrics.h"
#include "server/server.h"
#include "transport/tls_context.h"

void uw_server_measure_certificates(struct uw_server *server)
{
    int64_t expiry = INT64_MAX;

    UW_ASSERT_OWNER(&server->server_context.loop);
    for (int i = 0; i < server->listener_count; i++) {
        const struct uw_tls_context *tls = server->listeners[i].tls;
        int64_t own = tls ? uw_tls_context_expiry(tls) : INT64_MAX;

        expiry = own < expiry ? own : expiry;
    }
    if (expiry > 0 && expiry < INT64_MAX)
        uw_metrics_set(server->server_context.metrics, UW_METRIC_CERTIFICATE_EXPIRY_FIRST, (uint64_t)expiry);
}
