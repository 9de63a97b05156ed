#include "push/push_client_end.h"

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

void uw_push_client_drain(struct uw_push_client *client)
{
    const struct uw_server_context *server_context = client->server_context;

    UW_ASSERT_OWNER(&server_context->loop);
    if (!uw_push_client_is_open(client) || client->leaving)
        return;
    client->leaving = true;
    uw_stream_await_read(&client->stream,
                         server_context->loop.now_ns + uw_push_client_scatter(client, drain_spread_ns(server_context)));
}

void uw_push_client_notify_shutdown(struct uw_push_client *client)
{
    if (!uw_push_client_notify_plain(client, UW_PUSH_SHUTDOWN))
        uw_stream_close(&client->stream);
}

void uw_push_client_end_stream(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    uw_push_clients_resume_inflate(client->server_context);
    uw_stream_end(&client->stream);
}

void uw_push_client_end_of_input(struct uw_push_client *client)
{
    uw_push_client_closed(client);
    uw_push_client_end_stream(client);
}
