#include "push/event_stream.h"

#include <errno.h>

#include "push/client_connection.h"
#include "push/event_stream_frame.h"
#include "websocket/frame.h"

#define COMMENT ":\n\n"

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    (void)connection, (void)bytes, (void)length; /* it is read from so that its end is noticed */
}

static void receive_ended(struct uw_connection *connection, int32_t result)
{
    if (result == -ECANCELED)
        uw_connection_resume(connection);
    else
        uw_connection_close(connection);
}

static void sent(struct uw_connection *connection)
{
    uw_client_sent(uw_client_of(connection));
    if (uw_connection_is_open(connection))
        uw_client_await_silence(uw_client_of(connection), connection->service->loop.now_ns);
}

static void go_on(struct uw_connection *connection)
{
    (void)connection; /* nothing ever waits */
}

/* So that nobody between takes the connection for dead, and that it is noticed when it is. What is still outgoing does
 * as well. */
static void break_silence(struct uw_connection *connection)
{
    struct uw_chunk *chunk;

    uw_client_await_silence(uw_client_of(connection), connection->service->loop.now_ns);
    if (!uw_connection_is_flushed(connection))
        return;
    chunk = uw_chunk_copy(COMMENT, sizeof COMMENT - 1);
    if (chunk)
        uw_connection_enqueue(connection, &uw_client_of(connection)->stream, chunk);
    else
        uw_connection_close(connection);
}

static void timed_out(struct uw_connection *connection)
{
    if (uw_client_of(connection)->leaving)
        uw_client_leave(connection);
    else
        break_silence(connection);
}

const struct uw_protocol uw_protocol_event_stream = {
    .name = "event-stream",
    .opened = uw_client_connection_opened,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .go_on = go_on,
    .timed_out = timed_out,
    .drain = uw_client_drain,
    .is_answering = uw_client_connection_is_answering,
    .closed = uw_client_connection_closed,
    .released = uw_client_connection_released,
    .discarded = uw_client_connection_discarded,
    .take_over = uw_client_take_over,
    .abort = uw_client_abort,
    .detach = uw_client_detach,
};

static struct uw_chunk *frame_message(struct uw_slab *slab, bool text, const char *bytes, size_t length)
{
    (void)text; /* there is no other */
    return uw_event_stream_frame(slab, &(struct uw_sent_event){.data = bytes, .data_length = length, .retry_ms = -1});
}

/* They do not all come back in one moment to what takes this server's place. */
static void send_retry(struct uw_client *client)
{
    int64_t spread_ms = UW_EVENT_STREAM_RETRY_MAX_MS - UW_EVENT_STREAM_RETRY_MIN_MS;
    int64_t retry_ms = UW_EVENT_STREAM_RETRY_MIN_MS + uw_client_scatter(client, spread_ms);
    struct uw_chunk *chunk =
        uw_event_stream_frame(&client->service->chunks, &(struct uw_sent_event){.retry_ms = retry_ms});

    if (chunk) /* else it comes back when it likes */
        uw_connection_enqueue(client->stream.connection, &client->stream, chunk);
}

static void end(struct uw_client *client, unsigned code, const char *reason, size_t length)
{
    (void)reason, (void)length; /* there is no place for it */
    if (code == UW_CLOSE_GOING_AWAY)
        send_retry(client);
    uw_client_end_connection(client->stream.connection);
}

const struct uw_client_kind uw_client_event_stream = {
    .protocol = &uw_protocol_event_stream,
    .frame = frame_message,
    .end = end,
};
