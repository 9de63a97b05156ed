#include "push/event_stream.h"

#include <errno.h>

#include "push/close_code.h"
#include "push/event_stream_frame.h"
#include "push/event_stream_request.h"
#include "push/push_client_end.h"

#define COMMENT ":\n\n"

static void received(struct uw_push_client *client, const char *bytes, size_t length)
{
    (void)client, (void)bytes, (void)length; /* it is read from so that its end is noticed */
}

static void receive_ended(struct uw_push_client *client, int32_t result)
{
    if (result == -ECANCELED)
        uw_stream_resume_input(&client->stream);
    else if (result)
        uw_stream_close(&client->stream);
    else
        uw_push_client_end_of_input(client);
}

static void sent(struct uw_push_client *client)
{
    uw_push_client_sent(client);
    uw_push_client_start_idle_timeout(client, client->server_context->loop.now_ns);
}

static void resume(struct uw_push_client *client)
{
    (void)client; /* nothing ever waits */
}

/* A comment keeps proxies from closing an idle connection, and its send shows whether the client is gone. Outgoing data
 * does the same. */
static void break_silence(struct uw_push_client *client)
{
    struct uw_chunk *chunk;

    uw_push_client_start_idle_timeout(client, client->server_context->loop.now_ns);
    if (uw_stream_queued_bytes(&client->stream) > 0)
        return;
    chunk = uw_chunk_copy(COMMENT, sizeof COMMENT - 1);
    if (chunk)
        uw_stream_enqueue(&client->stream, chunk);
    else
        uw_stream_close(&client->stream);
}

static void timed_out(struct uw_push_client *client)
{
    if (client->leaving)
        uw_push_client_notify_shutdown(client);
    else
        break_silence(client);
}

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
        uw_stream_enqueue(&client->stream, chunk);
}

static void end(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    (void)reason, (void)length; /* the format has no field for a reason */
    if (code == UW_CLOSE_GOING_AWAY)
        send_retry(client);
    uw_push_client_end_stream(client);
}

const struct uw_push_client_kind uw_push_client_event_stream = {
    .is_event_stream = true,
    .event_calls = &uw_push_client_event_calls,
    .frame = frame_message,
    .end = end,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .resume = resume,
    .timed_out = timed_out,
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
