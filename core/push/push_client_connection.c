#include "push/push_client_connection.h"

#include "push/push_client_end.h"

/* The calls of the stream */

static bool is_open(const struct uw_stream *stream)
{
    return uw_connection_is_open(stream->connection);
}

static size_t queued_bytes(const struct uw_stream *stream)
{
    return stream->connection->outgoing.bytes;
}

static void queue(struct uw_stream *stream, struct uw_chunk *chunk)
{
    uw_connection_queue(stream->connection, chunk);
}

static void uncork(struct uw_stream *stream)
{
    uw_connection_uncork(stream->connection);
}

static void pause_input(struct uw_stream *stream)
{
    if (!stream->connection->paused)
        uw_connection_pause(stream->connection);
}

static void resume_input(struct uw_stream *stream)
{
    uw_connection_resume(stream->connection);
}

static void await_read(struct uw_stream *stream, int64_t deadline_ns)
{
    uw_connection_await_read(stream->connection, deadline_ns);
}

static void schedule_resume(struct uw_stream *stream)
{
    uw_connection_schedule_resume(stream->connection);
}

static void close_stream(struct uw_stream *stream)
{
    uw_connection_close(stream->connection);
}

static void end(struct uw_stream *stream)
{
    struct uw_connection *connection = stream->connection;
    struct uw_chunk *last = uw_chunk_take(&connection->server_context->chunks);

    if (!last) {
        uw_connection_close(connection);
        return;
    }
    last->flags = UW_CHUNK_CLOSE;
    uw_connection_enqueue(connection, stream, last);
    uw_connection_flush_and_end(connection);
}

static void reap(struct uw_stream *stream)
{
    uw_connection_reap(stream->connection);
}

static const struct uw_stream_calls stream_calls = {
    .is_open = is_open,
    .queued_bytes = queued_bytes,
    .queue = queue,
    .uncork = uncork,
    .pause_input = pause_input,
    .resume_input = resume_input,
    .await_read = await_read,
    .schedule_resume = schedule_resume,
    .close = close_stream,
    .end = end,
    .reap = reap,
};

/* The protocol of the connection, whose state is the pointer to the client */

static struct uw_push_client *client_of(const struct uw_connection *connection)
{
    return *(struct uw_push_client **)uw_connection_state(connection);
}

static void opened(struct uw_connection *connection)
{
    (void)connection; /* uw_push_client_begin does the rest */
}

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_push_client *client = client_of(connection);

    client->kind->received(client, bytes, length);
}

static void receive_ended(struct uw_connection *connection, int32_t result)
{
    struct uw_push_client *client = client_of(connection);

    client->kind->receive_ended(client, result);
}

static void sent(struct uw_connection *connection)
{
    struct uw_push_client *client = client_of(connection);

    client->kind->sent(client);
}

static void resume(struct uw_connection *connection)
{
    struct uw_push_client *client = client_of(connection);

    client->kind->resume(client);
}

static void timed_out(struct uw_connection *connection)
{
    struct uw_push_client *client = client_of(connection);

    client->kind->timed_out(client);
}

static void drain(struct uw_connection *connection)
{
    uw_push_client_drain(client_of(connection));
}

/* The count of outgoing bytes already answers this. */
static bool response_in_progress(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}

static void closed(struct uw_connection *connection)
{
    uw_push_client_closed(client_of(connection));
}

static bool released(struct uw_connection *connection)
{
    return uw_push_client_is_done(client_of(connection));
}

static void discarded(struct uw_connection *connection)
{
    uw_push_client_discard(client_of(connection));
}

static const struct uw_protocol protocol = {
    .name = "push-client",
    .opened = opened,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .resume = resume,
    .timed_out = timed_out,
    .drain = drain,
    .response_in_progress = response_in_progress,
    .closed = closed,
    .released = released,
    .discarded = discarded,
};

/* The upgrade */

void uw_push_client_attach(struct uw_push_client *client, struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    uw_send_queue_move(&connection->outgoing, &client->stream);
    uw_connection_cork(connection);
    uw_push_client_carry(client, &stream_calls, connection);
}

void uw_push_client_begin(struct uw_push_client *client, const char *ahead, size_t length)
{
    struct uw_connection *connection = client->stream.connection;

    UW_ASSERT_OWNER(&connection->server_context->loop);
    uw_connection_switch(connection, &protocol);
    *(struct uw_push_client **)uw_connection_state(connection) = client;
    uw_push_client_open(client);
    if (length > 0 && uw_connection_is_open(connection))
        received(connection, ahead, length);
    if (connection->input_ended && uw_connection_is_open(connection))
        receive_ended(connection, 0);
    else
        uw_connection_resume(connection);
    if (atomic_load(&connection->server_context->draining))
        uw_connection_drain(connection);
}
