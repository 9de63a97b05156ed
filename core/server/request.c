#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/connection.h"
#include "transport/tls_peer.h"

struct uw_request *uw_request_new(struct uw_service *service, struct uw_stream *stream,
                                  const struct uw_protocol *protocol)
{
    struct uw_request *request = uw_slab_take(&service->requests);

    if (!request)
        return NULL;
    request->next = NULL;
    request->service = service;
    request->stream = stream;
    request->protocol = protocol;
    request->writer = protocol->writer;
    request->user = NULL;
    request->client = NULL;
    request->client_event = 0;
    request->ascii = false;
    request->inflated_bytes = 0;
    request->last = NULL;
    request->bytes = request->inline_bytes;
    request->bytes_length = 0;
    request->bytes_capacity = sizeof request->inline_bytes;
    atomic_init(&request->await_drain, false);
    atomic_init(&request->lost, false);
    atomic_init(&request->posted, 0);
    uw_body_init(&request->body);
    return request;
}

void uw_request_free(struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->service->loop);
    request->service->inflated_bytes -= request->inflated_bytes;
    if (request->last)
        uw_chunk_free(request->last);
    if (request->bytes != request->inline_bytes)
        free(request->bytes);
    uw_body_free(&request->body);
    uw_slab_give(&request->service->requests, request);
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
    char *room;

    if (uw_request_reserve(request, request->bytes_length + length))
        return NULL;
    room = request->bytes + request->bytes_length;
    request->bytes_length += (uint32_t)length;
    return room;
}

int uw_request_keep(struct uw_request *request, const char *bytes, size_t length)
{
    char *room = uw_request_extend(request, length);

    if (!room)
        return -ENOMEM;
    memcpy(room, bytes, length);
    return 0;
}

static void notify_drained(struct uw_request *request)
{
    const struct uw_handler *handler = &request->service->handler;

    if (atomic_exchange(&request->await_drain, false))
        handler->notify(handler->context, request, UW_EVENT_DRAINED);
}

void uw_request_lose(struct uw_request *request)
{
    atomic_store(&request->lost, true);
    notify_drained(request);
}

void uw_request_tell_drained(struct uw_request *request)
{
    if (atomic_load(&request->stream->outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
        notify_drained(request);
}

void uw_request_send(struct uw_request *request, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&request->service->loop);
    if (atomic_load(&request->posted)) {
        uw_request_post(request, chunk);
        return;
    }
    uw_outgoing_count(request->stream, chunk);
    request->protocol->take_over(request, chunk);
}

void uw_request_abort(struct uw_request *request)
{
    UW_ASSERT_OWNER(&request->service->loop);
    assert(!atomic_load(&request->posted));
    request->protocol->abort(request);
}

static void receive_posted(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_chunk *chunk = uw_owner(message, struct uw_chunk, message);

    (void)loop;
    atomic_fetch_sub(&chunk->request->posted, 1);
    chunk->request->protocol->take_over(chunk->request, chunk);
}

void uw_request_post(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_loop *loop = &request->service->loop;

    uw_outgoing_count(request->stream, chunk);
    atomic_fetch_add(&request->posted, 1);
    chunk->request = request;
    chunk->message.receive = receive_posted;
    /* What a client's handler has written stands in line, and counts before it has served the event. */
    (request->client_event ? uw_loop_line_up : uw_loop_post)(loop, &chunk->message);
}

bool uw_request_keeps_alive(const struct uw_request *request)
{
    return request->head.keep_alive && !atomic_load_explicit(&request->service->draining, memory_order_relaxed);
}

size_t uw_request_outgoing(const struct uw_request *request)
{
    const struct uw_endpoint *endpoint = &request->stream->connection->endpoint;
    size_t outgoing = atomic_load(&request->stream->outgoing_bytes), progress = endpoint->transport->progress(endpoint);

    UW_ASSERT_OWNER(&request->service->loop);
    return progress < outgoing ? outgoing - progress : 0;
}

void uw_request_disconnect(struct uw_request *request)
{
    uw_connection_close(request->stream->connection);
}

bool uw_request_await_drain(struct uw_request *request)
{
    atomic_store(&request->await_drain, true);
    if (!atomic_load(&request->lost) && atomic_load(&request->stream->outgoing_bytes) > UW_OUTGOING_HIGH_BYTES)
        return true;
    /* The loop may have seen the wish already, and then its event comes all the same. */
    return !atomic_exchange(&request->await_drain, false);
}

static void begin_detach(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_detached *detached = uw_owner(message, struct uw_detached, message);

    (void)loop;
    atomic_fetch_sub(&detached->request->posted, 1);
    detached->request->protocol->detach(detached->request, detached);
}

/* By a message, from the loop's thread too: what was posted before arrives first. */
void uw_request_detach(struct uw_request *request, struct uw_detached *detached)
{
    *detached = (struct uw_detached){
        .message.receive = begin_detach, .request = request, .done = detached->done, .head = detached->head, .fd = -1};
    atomic_fetch_add(&request->posted, 1);
    uw_loop_post(&request->service->loop, &detached->message);
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

const char *uw_request_local(const struct uw_request *request, int *port)
{
    const struct uw_listener *listener = request->stream->connection->listener;

    *port = listener->port;
    return listener->address;
}
