#include "push/push_client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "push/close_code.h"
#include "server/protocol.h"

struct uw_push_client *uw_push_client_new(struct uw_server_context *server_context,
                                          const struct uw_push_client_kind *kind, void *user)
{
    struct uw_push_client *client = calloc(1, sizeof *client + kind->state_bytes);

    if (!client)
        return NULL;
    client->kind = kind;
    client->server_context = server_context;
    client->user = user;
    client->last = &client->first;
    uw_list_init(&client->inflate_link);
    uw_list_init(&client->subscriptions);
    uw_list_init(&client->published);
    uw_list_init(&client->process_subscribers);
    atomic_init(&client->subscribed, 0);
    atomic_init(&client->references, 1);
    atomic_init(&client->idle_timeout_ns, server_context->settings.idle_timeout_ns);
    return client;
}

void uw_push_client_retain(struct uw_push_client *client)
{
    atomic_fetch_add_explicit(&client->references, 1, memory_order_relaxed);
}

void uw_push_client_release(struct uw_push_client *client)
{
    if (atomic_fetch_sub(&client->references, 1) > 1)
        return;
    free(client->end_reason);
    free(client);
}

/* Events */

struct uw_request *uw_push_client_event_new(struct uw_push_client *client, enum uw_push_client_event event)
{
    struct uw_request *request = uw_request_new(client->server_context, &client->stream, client->kind->event_calls);

    if (!request)
        return NULL;
    request->last = uw_chunk_new(0);
    if (!request->last) {
        uw_request_free(request);
        return NULL;
    }
    request->client = client;
    request->client_event = (uint8_t)event;
    return request;
}

struct uw_chunk *uw_push_client_event_end(struct uw_request *request, bool failed)
{
    struct uw_chunk *last = request->last;

    request->last = NULL;
    last->flags = UW_CHUNK_FINISH | (failed ? UW_CHUNK_ABORT : 0);
    return last;
}

static void serve_next(struct uw_push_client *client)
{
    struct uw_server_context *server_context = client->server_context;
    struct uw_request *request = client->first;

    if (client->current || !request || server_context->closing)
        return;
    client->first = request->next;
    if (!client->first)
        client->last = &client->first;
    client->waiting--;
    client->waiting_bytes -= request->bytes_length;
    client->drained_waits &= request->client_event != UW_PUSH_DRAINED;
    client->current = request;
    server_context->events++;
    server_context->handler.notify(server_context->handler.context, request, UW_EVENT_PUSH);
}

void uw_push_client_notify(struct uw_push_client *client, struct uw_request *request)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    request->next = NULL;
    *client->last = request;
    client->last = &request->next;
    client->waiting++;
    client->waiting_bytes += request->bytes_length;
    serve_next(client);
}

bool uw_push_client_notify_plain(struct uw_push_client *client, enum uw_push_client_event event)
{
    struct uw_request *request = uw_push_client_event_new(client, event);

    if (request)
        uw_push_client_notify(client, request);
    return request != NULL;
}

void uw_push_client_notify_refused(struct uw_push_client *client)
{
    if (!uw_push_client_notify_plain(client, UW_PUSH_REFUSED))
        uw_stream_close(&client->stream);
}

void uw_push_client_wake(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    if (client->end_notified || client->server_context->closing)
        return;
    if (!uw_push_client_notify_plain(client, UW_PUSH_WOKEN))
        uw_stream_close(&client->stream);
}

static void receive_wake(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_push_client *client = uw_container_of(message, struct uw_push_client, wake_message);

    (void)loop;
    atomic_store(&client->wake_posted, false);
    uw_push_client_wake(client);
    uw_push_client_release(client);
}

void uw_push_client_post_wake(struct uw_push_client *client)
{
    if (atomic_exchange(&client->wake_posted, true))
        return;
    uw_push_client_retain(client);
    client->wake_message.receive = receive_wake;
    uw_loop_post(&client->server_context->loop, &client->wake_message);
}

bool uw_push_client_is_full(const struct uw_push_client *client)
{
    return client->waiting >= UW_INBOX_EVENTS_MAX || client->waiting_bytes >= UW_INBOX_BYTES_MAX;
}

bool uw_push_client_is_served(const struct uw_push_client *client)
{
    return !client->current && !client->first;
}

/* The budget for decompressed messages */

static bool has_room(const struct uw_server_context *server_context)
{
    return server_context->inflated_bytes < UW_INFLATED_BYTES_MAX;
}

bool uw_push_client_has_inflate_budget(const struct uw_push_client *client)
{
    return has_room(client->server_context);
}

void uw_push_client_await_inflate_budget(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    uw_list_append(&client->server_context->inflate_waiters, &client->inflate_link);
}

void uw_push_clients_resume_inflate(struct uw_server_context *server_context)
{
    while (!uw_list_empty(&server_context->inflate_waiters) && has_room(server_context)) {
        struct uw_push_client *client =
            uw_container_of(server_context->inflate_waiters.next, struct uw_push_client, inflate_link);

        uw_list_remove(&client->inflate_link);
        if (uw_stream_is_open(&client->stream)) {
            uw_stream_schedule_resume(&client->stream);
            return;
        }
    }
}

void uw_push_client_take_inflate_budget(struct uw_push_client *client, struct uw_request *message)
{
    if (message->bytes_length <= UW_INBOX_BYTES_MAX)
        return;
    message->inflated_bytes = message->bytes_length;
    client->server_context->inflated_bytes += message->inflated_bytes;
    uw_push_clients_resume_inflate(client->server_context);
}

/* Fewer events wait, perhaps none. */
static void resume(struct uw_push_client *client)
{
    if (!uw_stream_is_open(&client->stream))
        uw_stream_reap(&client->stream);
    else if (client->held_back)
        uw_stream_schedule_resume(&client->stream);
}

/* The handler has served an event. */
static void served(struct uw_request *request, bool failed)
{
    struct uw_push_client *client = request->client;
    bool opened = request->client_event == UW_PUSH_OPENED, ends = request->client_event == UW_PUSH_SHUTDOWN;
    bool published = request->client_event == UW_PUSH_PUBLISHED;

    assert(client->current == request && !atomic_load(&request->posted));
    client->current = NULL;
    uw_request_free(request);
    uw_push_clients_resume_inflate(client->server_context);
    if (failed)
        uw_push_client_end(client, UW_CLOSE_INTERNAL_ERROR, "", 0);
    else if (ends)
        uw_push_client_end(client, UW_CLOSE_GOING_AWAY, "", 0);
    if (opened)
        uw_stream_uncork(&client->stream);
    if (published)
        client->subscriber->served(client);
    serve_next(client);
    resume(client);
}

size_t uw_push_client_outgoing(const struct uw_request *request)
{
    return atomic_load(&request->stream->outgoing_bytes);
}

void uw_push_client_disconnect(struct uw_request *request)
{
    uw_stream_close(request->stream);
}

void uw_push_client_take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    unsigned flags = chunk->flags;

    uw_send_queue_refuse(chunk); /* the chunk only shows that the event has been served */
    if (flags & UW_CHUNK_FINISH)
        served(request, flags & UW_CHUNK_ABORT);
}

void uw_push_client_abort(struct uw_request *request)
{
    served(request, true);
}

void uw_push_client_detach(struct uw_request *request, struct uw_detached *detached)
{
    (void)request;
    detached->done(detached); /* without a descriptor: an event has no connection to detach */
}

const struct uw_request_calls uw_push_client_event_calls = {
    .outgoing = uw_push_client_outgoing,
    .disconnect = uw_push_client_disconnect,
    .take_over = uw_push_client_take_over,
    .abort = uw_push_client_abort,
    .detach = uw_push_client_detach,
};

/* Beginning and end */

void uw_push_client_carry(struct uw_push_client *client, const struct uw_stream_calls *calls,
                          struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    uw_push_client_retain(client);
    uw_stream_carry(&client->stream, calls, connection);
    client->server_context->clients++;
    client->server_context->event_streams += client->kind->is_event_stream;
    if (client->kind->attached && !client->kind->attached(client))
        uw_stream_close(&client->stream);
}

static bool takes(const struct uw_push_client *client)
{
    return uw_push_client_is_open(client) && uw_stream_is_open(&client->stream);
}

void uw_push_client_start_idle_timeout(struct uw_push_client *client, int64_t now_ns)
{
    int64_t idle_timeout_ns = atomic_load(&client->idle_timeout_ns);

    if (client->opened && takes(client) && !client->leaving && !client->asked)
        uw_stream_await_read(&client->stream, idle_timeout_ns ? now_ns + idle_timeout_ns : UW_FOREVER);
}

void uw_push_client_open(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    client->opened = true;
    if (!uw_push_client_notify_plain(client, UW_PUSH_OPENED))
        uw_stream_close(&client->stream);
    if (!uw_stream_is_open(&client->stream))
        return;
    uw_push_client_start_idle_timeout(client, client->server_context->loop.now_ns);
    if (client->early_end_code)
        client->kind->end(client, client->early_end_code, "", 0);
    else if (uw_stream_queued_bytes(&client->stream) == 0)
        uw_push_client_sent(client);
}

static void end_subscriptions(struct uw_push_client *client)
{
    if (client->subscriber)
        client->subscriber->ended(client);
}

void uw_push_client_end_input(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    client->input_ended = true;
    end_subscriptions(client);
}

void uw_push_client_closed(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    atomic_store(&client->ending, true);
    uw_list_remove(&client->inflate_link);
    uw_push_clients_resume_inflate(client->server_context);
    end_subscriptions(client);
    if (client->current)
        uw_request_mark_client_gone(client->current);
}

static void release_state(struct uw_push_client *client)
{
    if (client->kind->released)
        client->kind->released(client);
}

bool uw_push_client_is_done(struct uw_push_client *client)
{
    release_state(client);
    if (!client->end_notified) {
        client->end_notified = true;
        uw_push_client_closed(client);
        if (uw_push_client_notify_plain(client, UW_PUSH_CLOSED))
            return false; /* the stream's reaping calls this again after the handler has served the event */
    }
    if (!uw_push_client_is_served(client))
        return false;
    uw_push_client_discard(client);
    return true;
}

static void free_events(struct uw_push_client *client)
{
    struct uw_request *next;

    if (client->current)
        uw_request_free(client->current);
    for (struct uw_request *request = client->first; request; request = next) {
        next = request->next;
        uw_request_free(request);
    }
    client->current = client->first = NULL;
    client->last = &client->first;
}

void uw_push_client_discard(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    release_state(client);
    free_events(client);
    atomic_store(&client->ending, true);
    uw_list_remove(&client->inflate_link);
    end_subscriptions(client);
    if (client->stream.calls) {
        client->server_context->clients--;
        client->server_context->event_streams -= client->kind->is_event_stream;
    }
    uw_stream_carry(&client->stream, NULL, NULL);
    uw_push_client_release(client);
}

/* Writing */

bool uw_push_client_is_behind(const struct uw_push_client *client)
{
    return atomic_load(&client->stream.outgoing_bytes) >= client->server_context->settings.client_bytes_max;
}

static void prepare(struct uw_push_client *client, struct uw_chunk *chunk)
{
    size_t before = uw_chunk_left(chunk);

    if (client->kind->prepare)
        client->kind->prepare(client, chunk);
    atomic_fetch_sub(&client->stream.outgoing_bytes, before - uw_chunk_left(chunk));
}

/* The chunk has been counted. */
static bool queue_framed(struct uw_push_client *client, struct uw_chunk *chunk)
{
    if (!takes(client)) {
        uw_send_queue_refuse(chunk);
        return false;
    }
    uw_stream_queue(&client->stream, chunk);
    return true;
}

static bool queue(struct uw_push_client *client, struct uw_chunk *chunk)
{
    if (takes(client))
        prepare(client, chunk);
    return queue_framed(client, chunk);
}

bool uw_push_client_send(struct uw_push_client *client, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    uw_send_queue_count(&client->stream, chunk);
    return queue(client, chunk);
}

bool uw_push_client_send_framed(struct uw_push_client *client, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    uw_send_queue_count(&client->stream, chunk);
    return queue_framed(client, chunk);
}

static void receive_posted(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_chunk *chunk = uw_container_of(message, struct uw_chunk, message);
    struct uw_push_client *client = uw_container_of(chunk->stream, struct uw_push_client, stream);

    (void)loop;
    (void)queue(client, chunk);
    uw_push_client_release(client);
}

void uw_push_client_post(struct uw_push_client *client, struct uw_chunk *chunk)
{
    uw_send_queue_count(&client->stream, chunk);
    uw_push_client_retain(client);
    chunk->message.receive = receive_posted;
    uw_loop_post_bulk(&client->server_context->loop, &chunk->message);
}

void uw_push_client_sent(struct uw_push_client *client)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    if (client->current)
        uw_request_notify_drained(client->current);
    if (!atomic_load(&client->wants_drained) || client->drained_waits || client->input_ended ||
        atomic_load(&client->stream.outgoing_bytes) > 0)
        return;
    client->drained_waits = true; /* before the event is posted: the handler may serve it at once */
    if (!uw_push_client_notify_plain(client, UW_PUSH_DRAINED))
        uw_stream_close(&client->stream);
}

void uw_push_client_set_idle_timeout(struct uw_push_client *client, int64_t idle_timeout_ns)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    atomic_store(&client->idle_timeout_ns, idle_timeout_ns);
    uw_push_client_start_idle_timeout(client, uw_clock_ns());
}

static void receive_silence(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_push_client *client = uw_container_of(message, struct uw_push_client, idle_timeout_message);

    (void)loop;
    atomic_store(&client->idle_timeout_posted, false);
    uw_push_client_start_idle_timeout(client, uw_clock_ns());
    uw_push_client_release(client);
}

void uw_push_client_post_idle_timeout(struct uw_push_client *client, int64_t idle_timeout_ns)
{
    atomic_store(&client->idle_timeout_ns, idle_timeout_ns);
    if (atomic_exchange(&client->idle_timeout_posted, true))
        return;
    uw_push_client_retain(client);
    client->idle_timeout_message.receive = receive_silence;
    uw_loop_post(&client->server_context->loop, &client->idle_timeout_message);
}

/* Returns how much of the reason fits into a close frame. The cut is between two characters. */
static size_t reason_length(const char *reason, size_t length)
{
    if (!uw_utf8_is_text(reason, length))
        return 0;
    if (length <= UW_PUSH_REASON_BYTES_MAX)
        return length;
    length = UW_PUSH_REASON_BYTES_MAX;
    while (((unsigned char)reason[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static unsigned code_to_send(unsigned code)
{
    return uw_close_code_is_valid(code) ? code : UW_CLOSE_INTERNAL_ERROR;
}

/* A client that is not open yet ends as soon as it is open. */
void uw_push_client_end(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    if (atomic_exchange(&client->ending, true))
        return;
    if (!client->opened)
        client->early_end_code = code_to_send(code);
    else if (uw_stream_is_open(&client->stream))
        client->kind->end(client, code_to_send(code), reason, reason_length(reason, length));
}

static void receive_end(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_push_client *client = uw_container_of(message, struct uw_push_client, end_message);

    (void)loop;
    uw_push_client_end(client, client->end_code, client->end_reason ? client->end_reason : "",
                       client->end_reason_length);
    uw_push_client_release(client);
}

/* Without memory the reason is omitted. */
void uw_push_client_post_end(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    if (atomic_exchange(&client->end_posted, true))
        return;
    length = reason_length(reason, length);
    client->end_code = code;
    client->end_reason = length ? malloc(length) : NULL;
    client->end_reason_length = client->end_reason ? length : 0;
    if (client->end_reason)
        memcpy(client->end_reason, reason, length);
    uw_push_client_retain(client);
    client->end_message.receive = receive_end;
    uw_loop_post_bulk(&client->server_context->loop, &client->end_message);
}

static int open_module(struct uw_server_context *server_context)
{
    uw_list_init(&server_context->inflate_waiters);
    return 0;
}

const struct uw_module uw_module_push = {.open = open_module};
