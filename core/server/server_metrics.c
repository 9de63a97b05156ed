#include "server/server_metrics.h"

#include "metrics/metrics.h"
#include "server/server_context.h"

/* In the order of the label's values. */
enum connection_state { ACTIVE, IDLE, HANDSHAKE, HIJACKED };

static void measure_counts(struct uw_server_context *server_context)
{
    const struct uw_server_counts *now = &server_context->counts;
    struct uw_server_counts *before = &server_context->measured;
    struct uw_metrics_block *block = server_context->metrics;

    uw_metrics_add_growth(block, UW_METRIC_CONNECTIONS_ACCEPTED_FIRST, now->accepted, &before->accepted);
    uw_metrics_add_growth(block, UW_METRIC_TIMEOUTS_FIRST, now->timeouts, &before->timeouts);
    uw_metrics_add_growth(block, UW_METRIC_TLS_HANDSHAKES_FIRST, now->tls_handshakes, &before->tls_handshakes);
    uw_metrics_set(block, UW_METRIC_ACTIVE_REQUESTS_FIRST, now->requests - now->reported);
}

static void measure_connections(const struct uw_server_context *server_context)
{
    size_t rest = server_context->idles + server_context->handshakes + server_context->tunnels;
    size_t all = server_context->connections.taken;
    struct uw_metrics_block *block = server_context->metrics;

    uw_metrics_set(block, UW_METRIC_CONNECTIONS_FIRST + ACTIVE, all > rest ? all - rest : 0);
    uw_metrics_set(block, UW_METRIC_CONNECTIONS_FIRST + IDLE, server_context->idles);
    uw_metrics_set(block, UW_METRIC_CONNECTIONS_FIRST + HANDSHAKE, server_context->handshakes);
    uw_metrics_set(block, UW_METRIC_CONNECTIONS_FIRST + HIJACKED, server_context->tunnels);
}

void uw_server_measure(struct uw_server_context *server_context)
{
    UW_ASSERT_OWNER(&server_context->loop);
    measure_counts(server_context);
    measure_connections(server_context);
    uw_metrics_set(server_context->metrics, UW_METRIC_EVENT_STREAM_CLIENTS_FIRST, server_context->event_streams);
    uw_metrics_set(server_context->metrics, UW_METRIC_WEBSOCKET_CLIENTS_FIRST,
                   server_context->clients - server_context->event_streams);
}
