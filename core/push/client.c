#include "push/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "websocket/deflate.h"
#include "websocket/frame.h"

struct uw_client *uw_client_new(struct uw_service *service, const struct uw_client_kind *kind, void *user)
{
    struct uw_client *client = calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->kind = kind;
    client->service = service;
    client->user = user;
    client->last = &client->first;
    uw_list_init(&client->room_link);
    uw_list_init(&client->subscriptions);
    uw_list_init(&client->published);
    uw_list_init(&client->ears);
    atomic_init(&client->subscribed, 0);
    atomic_init(&client->holds, 1);
    atomic_init(&client->silence_ns, service->settings.silence_ns);
    return client;
}

void uw_client_hold(struct uw_client *client)
{
    atomic_fetch_add_explicit(&client->holds, 1, memory_order_relaxed);
}

void uw_client_release(struct uw_client *client)
{
    if (atomic_fetch_sub(&client->holds, 1) > 1)
        return;
    free(client->end_reason);
    free(client);
}

/* Events */

struct uw_request *uw_client_event_new(struct uw_client *client, enum uw_client_event event)
{
    struct uw_request *request = uw_request_new(client->service, &client->stream, client->kind->protocol);

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

struct uw_chunk *uw_client_event_end(struct uw_request *request, bool failed)
{
    struct uw_chunk *last = request->last;

    request->last = NULL;
    last->flags = UW_CHUNK_FINISH | (failed ? UW_CHUNK_ABORT : 0);
    return last;
}

static void serve_next(struct uw_client *client)
{
    struct uw_service *service = client->service;
    struct uw_request *request = client->first;

    if (client->current || !request || service->closing)
        return;
    client->first = request->next;
    if (!client->first)
        client->last = &client->first;
    client->waiting--;
    client->waiting_bytes -= request->bytes_length;
    client->drained_waits &= request->client_event != UW_CLIENT_DRAINED;
    client->current = request;
    service->events++;
    service->handler.notify(service->handler.context, request, UW_EVENT_CLIENT);
}

void uw_client_tell(struct uw_client *client, struct uw_request *request)
{
    UW_ASSERT_OWNER(&client->service->loop);
    request->next = NULL;
    *client->last = request;
    client->last = &request->next;
    client->waiting++;
    client->waiting_bytes += request->bytes_length;
    serve_next(client);
}

bool uw_client_tell_simply(struct uw_client *client, enum uw_client_event event)
{
    struct uw_request *request = uw_client_event_new(client, event);

    if (request)
        uw_client_tell(client, request);
    return request != NULL;
}

/* An ear has no connection. */
static void close_untold(const struct uw_client *client)
{
    if (client->stream.connection)
        uw_connection_close(client->stream.connection);
}

void uw_client_tell_refused(struct uw_client *client)
{
    if (!uw_client_tell_simply(client, UW_CLIENT_REFUSED))
        close_untold(client);
}

bool uw_client_is_full(const struct uw_client *client)
{
    return client->waiting >= UW_INBOX_EVENTS_MAX || client->waiting_bytes >= UW_INBOX_BYTES_MAX;
}

bool uw_client_is_served(const struct uw_client *client)
{
    return !client->current && !client->first;
}

/* Room for what came compressed */

static bool has_room(const struct uw_service *service)
{
    return service->inflated_bytes < UW_INFLATED_BYTES_MAX;
}

bool uw_client_has_room(const struct uw_client *client)
{
    return has_room(client->service);
}

void uw_client_await_room(struct uw_client *client)
{
    UW_ASSERT_OWNER(&client->service->loop);
    uw_list_append(&client->service->crowd, &client->room_link);
}

void uw_clients_let_in(struct uw_service *service)
{
    while (!uw_list_empty(&service->crowd) && has_room(service)) {
        struct uw_client *client = uw_owner(service->crowd.next, struct uw_client, room_link);

        uw_list_remove(&client->room_link);
        if (uw_connection_is_open(client->stream.connection)) {
            uw_connection_go_on_later(client->stream.connection);
            return;
        }
    }
}

void uw_client_take_room(struct uw_client *client, struct uw_request *message)
{
    if (message->bytes_length <= UW_INBOX_BYTES_MAX)
        return;
    message->inflated_bytes = message->bytes_length;
    client->service->inflated_bytes += message->inflated_bytes;
    uw_clients_let_in(client->service);
}

/* Fewer events wait, perhaps none. */
static void go_on(struct uw_client *client)
{
    struct uw_connection *connection = client->stream.connection;

    if (connection && uw_connection_is_closed(connection))
        uw_connection_reap(connection);
    else if (connection && client->held_back)
        uw_connection_go_on_later(connection);
}

/* The handler has served an event. */
static void served(struct uw_request *request, bool failed)
{
    struct uw_client *client = request->client;
    bool ends = request->client_event == UW_CLIENT_SHUTDOWN;
    bool published = request->client_event == UW_CLIENT_PUBLISHED;

    assert(client->current == request && !atomic_load(&request->posted));
    client->current = NULL;
    uw_request_free(request);
    uw_clients_let_in(client->service);
    if (failed)
        uw_client_end(client, UW_CLOSE_INTERNAL_ERROR, "", 0);
    else if (ends)
        uw_client_end(client, UW_CLOSE_GOING_AWAY, "", 0);
    if (published)
        client->subscriber->served(client);
    serve_next(client);
    go_on(client);
}

void uw_client_take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    unsigned flags = chunk->flags;

    uw_outgoing_refuse(chunk); /* it says nothing but that the event has been served */
    if (flags & UW_CHUNK_FINISH)
        served(request, flags & UW_CHUNK_ABORT);
}

void uw_client_abort(struct uw_request *request)
{
    served(request, true);
}

void uw_client_detach(struct uw_request *request, struct uw_detached *detached)
{
    (void)request;
    detached->done(detached); /* without a descriptor: it is not to be had */
}

/* Beginning and end */

/* Of the loop's, for the first client that needs it. */
static bool has_deflate(const struct uw_client *client)
{
    struct uw_service *service = client->service;

    if (client->window_bits && !service->deflate)
        service->deflate = uw_deflate_new();
    return !client->window_bits || service->deflate;
}

void uw_client_attach(struct uw_client *client, struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&client->service->loop);
    uw_client_hold(client);
    client->stream.connection = connection;
    uw_outgoing_move(&connection->outgoing, &client->stream);
    if (!has_deflate(client))
        uw_connection_close(connection);
}

static bool takes(const struct uw_client *client)
{
    return uw_client_is_open(client) && client->stream.connection && uw_connection_is_open(client->stream.connection);
}

void uw_client_await_silence(struct uw_client *client, int64_t now_ns)
{
    int64_t silence_ns = atomic_load(&client->silence_ns);

    if (client->opened && takes(client) && !client->leaving && !client->asked)
        uw_connection_await_read(client->stream.connection, silence_ns ? now_ns + silence_ns : UW_FOREVER);
}

/* From now on the protocol says when it is looked whether the client is there. */
static void open_client(struct uw_client *client)
{
    struct uw_connection *connection = client->stream.connection;

    client->opened = true;
    if (!uw_client_tell_simply(client, UW_CLIENT_OPENED))
        uw_connection_close(connection);
    if (!uw_connection_is_open(connection))
        return;
    uw_client_await_silence(client, client->service->loop.now_ns);
    if (client->early_end_code)
        client->kind->end(client, client->early_end_code, "", 0);
    else if (uw_connection_is_flushed(connection))
        uw_client_sent(client);
}

void uw_client_begin(struct uw_client *client, const char *ahead, size_t length)
{
    struct uw_connection *connection = client->stream.connection;

    UW_ASSERT_OWNER(&client->service->loop);
    uw_connection_switch(connection, client->kind->protocol);
    *(struct uw_client **)uw_connection_state(connection) = client;
    open_client(client);
    if (length > 0 && uw_connection_is_open(connection))
        client->kind->protocol->received(connection, ahead, length);
    if (connection->input_ended && uw_connection_is_open(connection))
        client->kind->protocol->receive_ended(connection, 0);
    else
        uw_connection_resume(connection);
    if (atomic_load(&client->service->draining))
        uw_connection_drain(connection);
}

static void end_subscriptions(struct uw_client *client)
{
    if (client->subscriber)
        client->subscriber->ended(client);
}

void uw_client_leaves(struct uw_client *client)
{
    UW_ASSERT_OWNER(&client->service->loop);
    client->has_left = true;
    end_subscriptions(client);
}

void uw_client_closed(struct uw_client *client)
{
    atomic_store(&client->ending, true);
    uw_list_remove(&client->room_link);
    uw_clients_let_in(client->service);
    end_subscriptions(client);
    if (client->current)
        uw_request_lose(client->current);
}

bool uw_client_is_done(struct uw_client *client)
{
    if (!client->end_told) {
        client->end_told = true;
        uw_client_closed(client);
        if (uw_client_tell_simply(client, UW_CLIENT_CLOSED))
            return false; /* it is asked again when that has been served */
    }
    if (!uw_client_is_served(client))
        return false;
    uw_client_discard(client);
    return true;
}

static void free_events(struct uw_client *client)
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

void uw_client_discard(struct uw_client *client)
{
    free_events(client);
    atomic_store(&client->ending, true);
    uw_list_remove(&client->room_link);
    end_subscriptions(client);
    client->stream.connection = NULL;
    uw_client_release(client);
}

/* Writing */

bool uw_client_is_behind(const struct uw_client *client)
{
    return atomic_load(&client->stream.outgoing_bytes) >= client->service->settings.client_bytes_max;
}

static void prepare(struct uw_client *client, struct uw_chunk *chunk)
{
    size_t before = uw_chunk_left(chunk);

    if (client->kind->prepare)
        client->kind->prepare(client, chunk);
    atomic_fetch_sub(&client->stream.outgoing_bytes, before - uw_chunk_left(chunk));
}

/* The chunk has been counted. */
static bool queue_framed(struct uw_client *client, struct uw_chunk *chunk)
{
    if (!takes(client)) {
        uw_outgoing_refuse(chunk);
        return false;
    }
    uw_connection_queue(client->stream.connection, chunk);
    return true;
}

static bool queue(struct uw_client *client, struct uw_chunk *chunk)
{
    if (takes(client))
        prepare(client, chunk);
    return queue_framed(client, chunk);
}

bool uw_client_send(struct uw_client *client, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&client->service->loop);
    uw_outgoing_count(&client->stream, chunk);
    return queue(client, chunk);
}

bool uw_client_send_framed(struct uw_client *client, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&client->service->loop);
    uw_outgoing_count(&client->stream, chunk);
    return queue_framed(client, chunk);
}

static void receive_posted(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_chunk *chunk = uw_owner(message, struct uw_chunk, message);
    struct uw_client *client = uw_owner(chunk->stream, struct uw_client, stream);

    (void)loop;
    (void)queue(client, chunk);
    uw_client_release(client);
}

void uw_client_post(struct uw_client *client, struct uw_chunk *chunk)
{
    uw_outgoing_count(&client->stream, chunk);
    uw_client_hold(client);
    chunk->message.receive = receive_posted;
    uw_loop_line_up(&client->service->loop, &chunk->message);
}

void uw_client_sent(struct uw_client *client)
{
    if (client->current)
        uw_request_tell_drained(client->current);
    if (!atomic_load(&client->wants_drained) || client->drained_waits || client->has_left ||
        atomic_load(&client->stream.outgoing_bytes) > 0)
        return;
    client->drained_waits = true; /* before it is told: it may be served at once */
    if (!uw_client_tell_simply(client, UW_CLIENT_DRAINED))
        close_untold(client);
}

void uw_client_set_silence(struct uw_client *client, int64_t silence_ns)
{
    UW_ASSERT_OWNER(&client->service->loop);
    atomic_store(&client->silence_ns, silence_ns);
    uw_client_await_silence(client, uw_clock_ns());
}

static void receive_silence(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_client *client = uw_owner(message, struct uw_client, silence_message);

    (void)loop;
    atomic_store(&client->silence_posted, false);
    uw_client_await_silence(client, uw_clock_ns());
    uw_client_release(client);
}

void uw_client_set_silence_from_afar(struct uw_client *client, int64_t silence_ns)
{
    atomic_store(&client->silence_ns, silence_ns);
    if (atomic_exchange(&client->silence_posted, true))
        return;
    uw_client_hold(client);
    client->silence_message.receive = receive_silence;
    uw_loop_post(&client->service->loop, &client->silence_message);
}

/* What may be sent of a reason: a text that fits, cut between two characters. */
static size_t reason_length(const char *reason, size_t length)
{
    if (!uw_utf8_is_text(reason, length))
        return 0;
    if (length <= UW_CLIENT_REASON_BYTES_MAX)
        return length;
    length = UW_CLIENT_REASON_BYTES_MAX;
    while (((unsigned char)reason[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static unsigned code_to_send(unsigned code)
{
    return uw_close_code_is_valid(code) ? code : UW_CLOSE_INTERNAL_ERROR;
}

/* Of one that is not open yet it is done when it is. */
void uw_client_end(struct uw_client *client, unsigned code, const char *reason, size_t length)
{
    struct uw_connection *connection = client->stream.connection;

    UW_ASSERT_OWNER(&client->service->loop);
    if (atomic_exchange(&client->ending, true))
        return;
    if (!client->opened)
        client->early_end_code = code_to_send(code);
    else if (connection && uw_connection_is_open(connection))
        client->kind->end(client, code_to_send(code), reason, reason_length(reason, length));
}

static void receive_end(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_client *client = uw_owner(message, struct uw_client, end_message);

    (void)loop;
    uw_client_end(client, client->end_code, client->end_reason ? client->end_reason : "", client->end_reason_length);
    uw_client_release(client);
}

/* A reason for which there is no memory is not told. */
void uw_client_end_from_afar(struct uw_client *client, unsigned code, const char *reason, size_t length)
{
    if (atomic_exchange(&client->end_posted, true))
        return;
    length = reason_length(reason, length);
    client->end_code = code;
    client->end_reason = length ? malloc(length) : NULL;
    client->end_reason_length = client->end_reason ? length : 0;
    if (client->end_reason)
        memcpy(client->end_reason, reason, length);
    uw_client_hold(client);
    client->end_message.receive = receive_end;
    uw_loop_line_up(&client->service->loop, &client->end_message);
}
