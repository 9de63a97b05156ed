#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/shutdown_and_close.h"
#include "server/connection.h"
#include "transport/tls_connection_info.h"

struct uw_request *uw_request_new(struct uw_server_context *server_context, struct uw_stream *stream,
                                  const struct uw_request_calls *calls)
{
    struct uw_request *request = uw_slab_alloc(&server_context->requests);

    if (!request)
        return NULL;
    request->next = NULL;
    request->server_context = server_context;
    request->stream = stream;
    request->calls = calls;
    request->writer = calls->writer;
    request->user = NULL;
    request->client = NULL;
    request->client_event = 0;
    request->ascii = false;
    request->inflated_bytes = 0;
    request->last = NULL;
    request->outcome = (struct uw_outcome){0};
    request->complete_ns = 0;
    request->sent = false;
    request->reported = false;
    request->id_length = 0;
    request->head.more = NULL;
    request->bytes = request->inline_bytes;
    request->bytes_length = 0;
    request->bytes_capacity = sizeof request->inline_bytes;
    atomic_init(&request->await_drain, false);
    atomic_init(&request->client_gone, false);
    atomic_init(&request->posted, 0);
    uw_spooled_body_init(&request->body);
    return request;
}

void uw_request_free(struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->server_context->loop);
    request->server_context->inflated_bytes -= request->inflated_bytes;
    if (request->last)
        uw_chunk_free(request->last);
    if (request->bytes != request->inline_bytes)
        free(request->bytes);
    uw_http_head_free(&request->head);
    uw_spooled_body_free(&request->body);
    uw_slab_free(&request->server_context->requests, request);
}

int uw_request_reserve(struct uw_request *request, size_t length)
{
    size_t capacity = request->bytes_capacity;
    char *bytes;

    if (length <= capacity)
        return 0;
    if (length > UW_REQUEST_BYTES_MAX)
        return -ENOMEM;
    while (capacity < length)
        capacity *= 2;
    bytes = realloc(request->bytes == request->inline_bytes ? NULL : request->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    if (request->bytes == request->inline_bytes)
        memcpy(bytes, request->inline_bytes, request->bytes_length);
    request->bytes = bytes;
    request->bytes_capacity = (uint32_t)capacity;
    return 0;
}

char *uw_request_extend(struct uw_request *request, size_t length)
{
    char *target;

    if (uw_request_reserve(request, request->bytes_length + length))
        return NULL;
    target = request->bytes + request->bytes_length;
    request->bytes_length += (uint32_t)length;
    return target;
}

int uw_request_keep(struct uw_request *request, const char *bytes, size_t length)
{
    char *target = uw_request_extend(request, length);

    if (!target)
        return -ENOMEM;
    memcpy(target, bytes, length);
    return 0;
}

static void notify_drained(struct uw_request *request)
{
    const struct uw_handler *handler = &request->server_context->handler;

    if (atomic_exchange(&request->await_drain, false))
        handler->notify(handler->context, request, UW_EVENT_DRAINED);
}

void uw_request_mark_client_gone(struct uw_request *request)
{
    atomic_store(&request->client_gone, true);
    notify_drained(request);
}

void uw_request_count_unsent(struct uw_request *request, size_t bytes)
{
    int64_t *content_bytes = &request->outcome.content_bytes;

    *content_bytes = (uint64_t)*content_bytes > bytes ? *content_bytes - (int64_t)bytes : 0;
}

void uw_request_report(struct uw_request *request)
{
    struct uw_server_context *server_context = request->server_context;

    UW_ASSERT_OWNER(&server_context->loop);
    if (!server_context->handler.answered || server_context->closing || request->reported)
        return;
    request->reported = true;
    server_context->counts.reported += request->complete_ns != 0;
    server_context->handler.answered(server_context->handler.context, request);
}

void uw_request_notify_drained(struct uw_request *request)
{
    if (atomic_load(&request->stream->outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
        notify_drained(request);
}

void uw_request_send(struct uw_request *request, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&request->server_context->loop);
    if (atomic_load(&request->posted)) {
        uw_request_post(request, chunk);
        return;
    }
    uw_send_queue_count(request->stream, chunk);
    request->calls->take_over(request, chunk);
}

void uw_request_abort(struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->server_context->loop);
    assert(!atomic_load(&request->posted));
    request->calls->abort(request);
}

static void receive_posted(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_chunk *chunk = uw_container_of(message, struct uw_chunk, message);

    (void)loop;
    atomic_fetch_sub(&chunk->request->posted, 1);
    chunk->request->calls->take_over(chunk->request, chunk);
}

void uw_request_post(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_loop *loop = &request->server_context->loop;

    uw_send_queue_count(request->stream, chunk);
    atomic_fetch_add(&request->posted, 1);
    chunk->request = request;
    chunk->message.receive = receive_posted;
    /* Writes of a client's event handler use the bulk queue, and are counted before the event is finished. */
    (request->client_event ? uw_loop_post_bulk : uw_loop_post)(loop, &chunk->message);
}

bool uw_request_keeps_alive(const struct uw_request *request)
{
    const struct uw_server_context *server_context = request->server_context;

    return request->head.keep_alive && !atomic_load_explicit(&server_context->draining, memory_order_relaxed) &&
           !atomic_load_explicit(&server_context->drain_announced, memory_order_relaxed);
}

size_t uw_request_outgoing(const struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->server_context->loop);
    return request->calls->outgoing(request);
}

void uw_request_disconnect(struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->server_context->loop);
    request->calls->disconnect(request);
}

bool uw_request_await_drain(struct uw_request *request)
{
    atomic_store(&request->await_drain, true);
    if (!atomic_load(&request->client_gone) && atomic_load(&request->stream->outgoing_bytes) > UW_OUTGOING_HIGH_BYTES)
        return true;
    /* The loop may have cleared the flag already; then UW_EVENT_DRAINED follows. */
    return !atomic_exchange(&request->await_drain, false);
}

static void begin_detach(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_detached *detached = uw_container_of(message, struct uw_detached, message);

    (void)loop;
    atomic_fetch_sub(&detached->request->posted, 1);
    detached->request->calls->detach(detached->request, detached);
}

/* A message carries the request, even on the loop's thread, so that earlier posts arrive first. */
void uw_request_detach(struct uw_request *request, struct uw_detached *detached)
{
    *detached = (struct uw_detached){
        .message.receive = begin_detach, .request = request, .done = detached->done, .head = detached->head, .fd = -1};
    atomic_fetch_add(&request->posted, 1);
    uw_loop_post(&request->server_context->loop, &detached->message);
}

bool uw_request_is_abandoned(const struct uw_request *request, bool looks)
{
    const struct uw_connection *connection = request->stream->connection;

    return atomic_load(&request->client_gone) || connection->input_ended ||
           (looks && uw_has_hung_up(connection->endpoint.fd));
}

const char *uw_request_remote(const struct uw_request *request)
{
    return request->stream->connection->remote;
}

int uw_request_remote_port(const struct uw_request *request)
{
    return request->stream->connection->remote_port;
}

const struct uw_tls_peer *uw_request_peer(const struct uw_request *request)
{
    return uw_endpoint_peer(&request->stream->connection->endpoint);
}

const char *uw_request_tls_version(const struct uw_request *request)
{
    const struct uw_tls_peer *peer = uw_request_peer(request);

    return peer ? peer->version : NULL;
}

const char *uw_request_local(const struct uw_request *request, int *port)
{
    const struct uw_listener *listener = request->stream->connection->listener;

    *port = listener->port;
    return listener->address;
}
