#include "push/client_connection.h"

int64_t uw_client_scatter(const struct uw_client *client, int64_t spread)
{
    uint64_t seed = (uint64_t)(uintptr_t)client ^ (uint64_t)client->service->loop.now_ns;

    return spread ? (int64_t)((seed * UINT64_C(0x9e3779b97f4a7c15) >> 1) % (uint64_t)spread) : 0;
}

void uw_client_drain(struct uw_connection *connection)
{
    struct uw_client *client = uw_client_of(connection);
    struct uw_service *service = client->service;

    if (!uw_client_is_open(client) || client->leaving)
        return;
    client->leaving = true;
    uw_connection_await_read(connection,
                             service->loop.now_ns + uw_client_scatter(client, atomic_load(&service->leaving_ns)));
}

void uw_client_leave(struct uw_connection *connection)
{
    if (!uw_client_tell_simply(uw_client_of(connection), UW_CLIENT_SHUTDOWN))
        uw_connection_close(connection);
}

void uw_client_end_connection(struct uw_connection *connection)
{
    struct uw_chunk *last = uw_chunk_take(&connection->service->chunks);

    uw_clients_let_in(connection->service);
    if (!last) {
        uw_connection_close(connection);
        return;
    }
    last->flags = UW_CHUNK_CLOSE;
    uw_connection_enqueue(connection, &uw_client_of(connection)->stream, last);
    uw_connection_flush_and_end(connection);
}

void uw_client_connection_opened(struct uw_connection *connection)
{
    (void)connection; /* uw_client_begin has more to say */
}

void uw_client_connection_closed(struct uw_connection *connection)
{
    uw_client_closed(uw_client_of(connection));
}

bool uw_client_connection_released(struct uw_connection *connection)
{
    return uw_client_is_done(uw_client_of(connection));
}

void uw_client_connection_discarded(struct uw_connection *connection)
{
    uw_client_discard(uw_client_of(connection));
}

/* What is outgoing tells. */
bool uw_client_connection_is_answering(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}
