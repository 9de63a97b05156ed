#include "push/push_client_connection.h"

int64_t uw_push_client_scatter(const struct uw_push_client *client, int64_t spread)
{
    uint64_t seed = (uint64_t)(uintptr_t)client ^ (uint64_t)client->server_context->loop.now_ns;

    return spread ? (int64_t)((seed * UINT64_C(0x9e3779b97f4a7c15) >> 1) % (uint64_t)spread) : 0;
}

/* Many clients that are closed at once would reconnect at once. */
static int64_t drain_spread_ns(const struct uw_server_context *server_context)
{
    return server_context->clients > UW_DRAIN_AT_ONCE_MAX ? atomic_load(&server_context->drain_spread_ns) : 0;
}

void uw_push_client_drain(struct uw_connection *connection)
{
    struct uw_push_client *client = uw_push_client_of(connection);
    const struct uw_server_context *server_context = client->server_context;

    if (!uw_push_client_is_open(client) || client->leaving)
        return;
    client->leaving = true;
    uw_connection_await_read(connection, server_context->loop.now_ns +
                                             uw_push_client_scatter(client, drain_spread_ns(server_context)));
}

void uw_push_client_notify_shutdown(struct uw_connection *connection)
{
    if (!uw_push_client_notify_plain(uw_push_client_of(connection), UW_PUSH_SHUTDOWN))
        uw_connection_close(connection);
}

void uw_push_client_end_connection(struct uw_connection *connection)
{
    struct uw_chunk *last = uw_chunk_take(&connection->server_context->chunks);

    uw_push_clients_resume_inflate(connection->server_context);
    if (!last) {
        uw_connection_close(connection);
        return;
    }
    last->flags = UW_CHUNK_CLOSE;
    uw_connection_enqueue(connection, &uw_push_client_of(connection)->stream, last);
    uw_connection_flush_and_end(connection);
}

void uw_push_client_end_of_input(struct uw_connection *connection)
{
    uw_push_client_closed(uw_push_client_of(connection));
    uw_push_client_end_connection(connection);
}

void uw_push_client_connection_opened(struct uw_connection *connection)
{
    (void)connection; /* uw_push_client_begin does the rest */
}

void uw_push_client_connection_closed(struct uw_connection *connection)
{
    uw_push_client_closed(uw_push_client_of(connection));
}

bool uw_push_client_connection_released(struct uw_connection *connection)
{
    return uw_push_client_is_done(uw_push_client_of(connection));
}

void uw_push_client_connection_discarded(struct uw_connection *connection)
{
    uw_push_client_discard(uw_push_client_of(connection));
}

/* The count of outgoing bytes already answers this. */
bool uw_push_client_connection_response_in_progress(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}
