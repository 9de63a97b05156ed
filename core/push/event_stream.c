#include "push/event_stream.h"

#include <errno.h>

#include "push/close_code.h"
#include "push/event_stream_frame.h"
#include "push/event_stream_request.h"
#include "push/push_client_connection.h"

#define COMMENT ":\n\n"

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    (void)connection, (void)bytes, (void)length; /* it is read from so that its end is noticed */
}

static void receive_ended(struct uw_connection *connection, int32_t result)
{
    if (result == -ECANCELED)
        uw_connection_resume(connection);
    else if (result)
        uw_connection_close(connection);
    else
        uw_push_client_end_of_input(connection);
}

static void sent(struct uw_connection *connection)
{
    uw_push_client_sent(uw_push_client_of(connection));
    if (uw_connection_is_open(connection))
        uw_push_client_start_idle_timeout(uw_push_client_of(connection), connection->server_context->loop.now_ns);
}

static void resume(struct uw_connection *connection)
{
    (void)connection; /* nothing ever waits */
}

/* A comment keeps proxies from closing an idle connection, and its send shows whether the client is gone. Outgoing data
 * does the same. */
static void break_silence(struct uw_connection *connection)
{
    struct uw_chunk *chunk;

    uw_push_client_start_idle_timeout(uw_push_client_of(connection), connection->server_context->loop.now_ns);
    if (!uw_connection_is_flushed(connection))
        return;
    chunk = uw_chunk_copy(COMMENT, sizeof COMMENT - 1);
    if (chunk)
        uw_connection_enqueue(connection, &uw_push_client_of(connection)->stream, chunk);
    else
        uw_connection_close(connection);
}

static void timed_out(struct uw_connection *connection)
{
    if (uw_push_client_of(connection)->leaving)
        uw_push_client_notify_shutdown(connection);
    else
        break_silence(connection);
}

const struct uw_protocol uw_protocol_event_stream = {
    .name = "event-stream",
    .opened = uw_push_client_connection_opened,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .resume = resume,
    .timed_out = timed_out,
    .drain = uw_push_client_drain,
    .response_in_progress = uw_push_client_connection_response_in_progress,
    .closed = uw_push_client_connection_closed,
    .released = uw_push_client_connection_released,
    .discarded = uw_push_client_connection_discarded,
    .outgoing = uw_connection_outgoing,
    .disconnect = uw_connection_disconnect,
    .take_over = uw_push_client_take_over,
    .abort = uw_push_client_abort,
    .detach = uw_push_client_detach,
};

static struct uw_chunk *frame_message(struct uw_slab *slab, bool text, const char *bytes, size_t length)
{
    (void)text; /* server-sent events are always text */
    return uw_event_stream_frame(slab, &(struct uw_sent_event){.data = bytes, .data_length = length, .retry_ms = -1});
}

/* Random delays keep the clients from reconnecting to the next server in one moment. */
static void send_retry(struct uw_push_client *client)
{
    int64_t spread_ms = UW_EVENT_STREAM_RETRY_MAX_MS - UW_EVENT_STREAM_RETRY_MIN_MS;
    int64_t retry_ms = UW_EVENT_STREAM_RETRY_MIN_MS + uw_push_client_scatter(client, spread_ms);
    struct uw_chunk *chunk =
        uw_event_stream_frame(&client->server_context->chunks, &(struct uw_sent_event){.retry_ms = retry_ms});

    if (chunk) /* without memory the client chooses its own delay */
        uw_connection_enqueue(client->stream.connection, &client->stream, chunk);
}

static void end(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    (void)reason, (void)length; /* the format has no field for a reason */
    if (code == UW_CLOSE_GOING_AWAY)
        send_retry(client);
    uw_push_client_end_connection(client->stream.connection);
}

const struct uw_push_client_kind uw_push_client_event_stream = {
    .protocol = &uw_protocol_event_stream,
    .frame = frame_message,
    .end = end,
};

static int accept_upgrade(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                          const struct uw_http_head *head, const char *bytes, struct uw_push_client *client)
{
    (void)head, (void)bytes, (void)client; /* nothing is agreed upon */
    return uw_event_stream_accept(writer, chunk);
}

const struct uw_upgrade_kind uw_upgrade_event_stream = {
    .name = "sse",
    .client_kind = &uw_push_client_event_stream,
    .status = 200,
    .is_wanted = uw_event_stream_is_wanted,
    .accept = accept_upgrade,
};
