/* Long-lived clients on a stream that no connection carries: they know the table of the stream's calls alone. */
#include "server/stream.h"

#include "push/event_stream.h"
#include "push/push_client_echo_server.h"
#include "websocket/websocket_protocol.h"

#define WRITTEN_BYTES_MAX 1024

/* The carrier */

static char written[WRITTEN_BYTES_MAX];
static size_t written_length;
static bool is_stream_open, corked, reaped;
static int64_t deadline_ns;

static bool is_open(const struct uw_stream *stream)
{
    (void)stream;
    return is_stream_open;
}

static size_t queued_bytes(const struct uw_stream *stream)
{
    (void)stream;
    return 0;
}

static void queue(struct uw_stream *stream, struct uw_chunk *chunk)
{
    CHECK(chunk->stream == stream && is_stream_open);
    CHECK(written_length + chunk->length <= sizeof written);
    memcpy(written + written_length, chunk->bytes, chunk->length);
    written_length += chunk->length;
    uw_send_queue_refuse(chunk);
}

static void uncork(struct uw_stream *stream)
{
    (void)stream;
    corked = false;
}

static void change_input(struct uw_stream *stream)
{
    (void)stream;
}

static void await_read(struct uw_stream *stream, int64_t time_ns)
{
    (void)stream;
    deadline_ns = time_ns;
}

static void schedule_resume(struct uw_stream *stream)
{
    (void)stream;
}

static void end_stream(struct uw_stream *stream)
{
    (void)stream;
    is_stream_open = false;
    uw_push_client_closed(client);
}

static void reap(struct uw_stream *stream)
{
    (void)stream;
    reaped = true;
}

static const struct uw_stream_calls calls = {
    .is_open = is_open,
    .queued_bytes = queued_bytes,
    .queue = queue,
    .uncork = uncork,
    .pause_input = change_input,
    .resume_input = change_input,
    .await_read = await_read,
    .schedule_resume = schedule_resume,
    .close = end_stream,
    .end = end_stream,
    .reap = reap,
};

static void upgrade(struct uw_request *request)
{
    (void)request;
    CHECK(false); /* no request comes */
}

static void open_client(const struct uw_push_client_kind *kind)
{
    open_server(NULL);
    written_length = 0;
    is_stream_open = corked = true;
    reaped = false;
    deadline_ns = 0;
    client = uw_push_client_new(&server.server_context, kind, NULL);
    CHECK(client != NULL);
    uw_push_client_carry(client, &calls, NULL);
    CHECK_EQUAL(1, server.server_context.clients);
    uw_push_client_open(client);
    CHECK(!corked); /* the handler has served the first event */
}

static void expect_written(const char *bytes, size_t length)
{
    CHECK_EQUAL(length, written_length);
    CHECK(memcmp(bytes, written, length) == 0);
    written_length = 0;
}

#define EXPECT_WRITTEN(bytes) expect_written(bytes, sizeof(bytes) - 1)

static void free_client(const char *expected)
{
    CHECK(!is_stream_open && !uw_push_client_is_open(client));
    CHECK(!uw_push_client_is_done(client)); /* the handler is notified of the end first */
    CHECK(reaped);
    CHECK(uw_push_client_is_done(client));
    CHECK_EQUAL(0, server.server_context.clients);
    end(expected);
}

TEST(websocket)
{
    static const char text[] = "\x81\x82\0\0\0\0hi", close_frame[] = "\x88\x82\0\0\0\0\x03\xe8";

    open_client(&uw_push_client_websocket);
    client->kind->received(client, text, 4);
    client->kind->received(client, text + 4, sizeof text - 5);
    EXPECT_WRITTEN("\x81\x02hi");
    client->kind->received(client, close_frame, sizeof close_frame - 1);
    EXPECT_WRITTEN("\x88\x02\x03\xe8");
    free_client("otc");
}

TEST(websocket_that_the_server_ends)
{
    open_client(&uw_push_client_websocket);
    uw_push_client_end(client, 1001, "bye", 3);
    EXPECT_WRITTEN("\x88\x05\x03\xe9"
                   "bye");
    CHECK(deadline_ns > 0 && is_stream_open);
    client->kind->timed_out(client);
    free_client("oc");
}

TEST(half_a_message)
{
    open_client(&uw_push_client_websocket);
    client->kind->received(client, "\x81\x82\0\0\0\0h", 7);
    uw_stream_close(&client->stream);
    free_client("oc");
}

TEST(event_stream)
{
    open_client(&uw_push_client_event_stream);
    CHECK(write_text("news", 4));
    EXPECT_WRITTEN("data: news\n\n");
    client->kind->timed_out(client);
    EXPECT_WRITTEN(":\n\n");
    client->kind->receive_ended(client, 0);
    free_client("oc");
}

TEST_MAIN
