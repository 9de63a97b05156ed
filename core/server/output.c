/* From chunks to the kernel: one send at a time, in order, each of a bounded size so that a client's progress can be
 * seen. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/connection.h"

static void sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

static size_t weight(const struct uw_chunk *chunk)
{
    return chunk->length - chunk->sent + (size_t)chunk->rest_left;
}

/* Small answers to pipelined requests leave in one piece. */
static bool merges(const struct uw_connection *connection, const struct uw_chunk *chunk)
{
    const struct uw_chunk *last = connection->outgoing_last;
    bool in_kernel = last == connection->outgoing && connection->send.pending;

    return last && !in_kernel && !(last->flags & UW_CHUNK_CLOSE) && !last->rest_left && !chunk->rest_left &&
           chunk->length <= last->capacity - last->length;
}

static void append(struct uw_connection *connection, struct uw_chunk *chunk)
{
    struct uw_chunk *last = connection->outgoing_last;

    if (merges(connection, chunk)) {
        memcpy(last->bytes + last->length, chunk->bytes, chunk->length);
        last->length += chunk->length;
        last->flags |= chunk->flags;
        uw_chunk_free(chunk);
        return;
    }
    chunk->next = NULL;
    if (last)
        last->next = chunk;
    else
        connection->outgoing = chunk;
    connection->outgoing_last = chunk;
}

static void mark_dirty(struct uw_connection *connection)
{
    if (uw_list_empty(&connection->work))
        uw_list_append(&connection->server->dirty, &connection->work);
}

static void queue(struct uw_connection *connection, struct uw_chunk *chunk)
{
    chunk->flags &= UW_CHUNK_CLOSE | UW_CHUNK_TO_CLOSE;
    append(connection, chunk);
    mark_dirty(connection);
}

void uw_connection_enqueue(struct uw_connection *connection, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    atomic_fetch_add(&connection->outgoing_bytes, weight(chunk));
    queue(connection, chunk);
}

static void drop(struct uw_connection *connection, struct uw_chunk *chunk)
{
    atomic_fetch_sub(&connection->outgoing_bytes, weight(chunk));
    uw_chunk_free(chunk);
}

void uw_connection_drop_outgoing(struct uw_connection *connection)
{
    struct uw_chunk *kept = connection->send.pending ? connection->outgoing : NULL;
    struct uw_chunk *chunk = kept ? kept->next : connection->outgoing;

    UW_ASSERT_OWNER(&connection->server->loop);
    connection->outgoing = connection->outgoing_last = kept;
    if (kept)
        kept->next = NULL;
    while (chunk) {
        struct uw_chunk *next = chunk->next;

        drop(connection, chunk);
        chunk = next;
    }
}

/* The response has been handed over: what becomes of the connection? */
static void go_on(struct uw_connection *connection, unsigned flags)
{
    if (connection->state == UW_CONNECTION_CLOSED) {
        uw_connection_reap(connection);
    } else if (flags & UW_CHUNK_ABORT) {
        uw_connection_cut(connection);
    } else if (flags & UW_CHUNK_CLOSE) {
        connection->state = UW_CONNECTION_FLUSHING;
        uw_pending_drop(&connection->pending);
        uw_connection_continue(connection);
    } else {
        connection->state = UW_CONNECTION_IDLE;
        if (!connection->outgoing)
            uw_connection_await_next(connection);
        uw_connection_continue(connection);
    }
}

/* What the connection does next does not wait for it. */
static bool says_nothing(const struct uw_chunk *chunk)
{
    return weight(chunk) == 0 && !(chunk->flags & UW_CHUNK_CLOSE);
}

/* `chunk` has been counted in outgoing_bytes already. */
static void take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_connection *connection = request->connection;
    unsigned flags = chunk->flags;

    if (flags & UW_CHUNK_FINISH) {
        assert(!atomic_load(&request->posted) && !connection->detached);
        connection->request = NULL;
        request->connection = NULL;
    }
    if (connection->state == UW_CONNECTION_CLOSED || flags & UW_CHUNK_ABORT || says_nothing(chunk))
        drop(connection, chunk);
    else
        queue(connection, chunk);
    if (!(flags & UW_CHUNK_FINISH))
        return;
    uw_request_free(connection->server, request);
    go_on(connection, flags);
}

void uw_request_send(struct uw_request *request, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&request->server->loop);
    if (atomic_load(&request->posted)) {
        uw_request_post(request, chunk);
        return;
    }
    atomic_fetch_add(&request->connection->outgoing_bytes, weight(chunk));
    take_over(request, chunk);
}

void uw_request_abort(struct uw_request *request)
{
    struct uw_connection *connection = request->connection;

    UW_ASSERT_OWNER(&request->server->loop);
    assert(!atomic_load(&request->posted));
    connection->request = NULL;
    uw_request_free(connection->server, request);
    go_on(connection, UW_CHUNK_ABORT);
}

static void receive_posted(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_chunk *chunk = uw_owner(message, struct uw_chunk, message);

    (void)loop;
    atomic_fetch_sub(&chunk->request->posted, 1);
    take_over(chunk->request, chunk);
}

void uw_request_post(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_loop *loop = &request->server->loop;

    atomic_fetch_add(&request->connection->outgoing_bytes, weight(chunk));
    atomic_fetch_add(&request->posted, 1);
    chunk->request = request;
    chunk->message.receive = receive_posted;
    uw_loop_post(loop, &chunk->message);
}

bool uw_request_keeps_alive(const struct uw_request *request)
{
    return request->head.keep_alive && !atomic_load_explicit(&request->server->draining, memory_order_relaxed);
}

size_t uw_request_outgoing(const struct uw_request *request)
{
    const struct uw_connection *connection = request->connection;
    size_t outgoing = atomic_load(&connection->outgoing_bytes);

    UW_ASSERT_OWNER(&request->server->loop);
    return connection->send.pending ? outgoing - connection->send.done : outgoing;
}

void uw_request_disconnect(struct uw_request *request)
{
    uw_connection_close(request->connection);
}

bool uw_request_await_drain(struct uw_request *request)
{
    atomic_store(&request->await_drain, true);
    if (!atomic_load(&request->lost) && atomic_load(&request->connection->outgoing_bytes) > UW_OUTGOING_HIGH_BYTES)
        return true;
    /* The loop may have seen the wish already, and then its event comes all the same. */
    return !atomic_exchange(&request->await_drain, false);
}

/* A producer that waits goes on when little is left. */
static void tell_drained(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;

    if (uw_connection_handled(connection) && atomic_load(&connection->outgoing_bytes) <= UW_OUTGOING_LOW_BYTES &&
        atomic_exchange(&connection->request->await_drain, false))
        server->handler.notify(server->handler.context, connection->request, UW_EVENT_DRAINED);
}

static uint32_t at_most(uint64_t length, uint32_t most)
{
    return length < most ? (uint32_t)length : most;
}

static struct uw_operation send_bytes(char *bytes, uint64_t length)
{
    return (struct uw_operation){.verb = UW_SEND, .data = bytes, .length = at_most(length, UW_SEND_BYTES_MAX)};
}

static struct uw_operation send_file(const struct uw_chunk *chunk)
{
    return (struct uw_operation){.verb = UW_SEND_FILE,
                                 .file = chunk->file,
                                 .offset = chunk->rest_offset,
                                 .length = at_most((uint64_t)chunk->rest_left, UW_SEND_FILE_BYTES_MAX)};
}

/* Bytes and borrowed memory together: one packet, one call. */
static struct uw_operation send_both(struct uw_connection *connection, struct uw_chunk *chunk)
{
    uint32_t first = at_most(chunk->length - chunk->sent, UW_SEND_BYTES_MAX);
    uint32_t second = at_most((uint64_t)chunk->rest_left, UW_SEND_BYTES_MAX - first);

    connection->pieces[0] = (struct iovec){.iov_base = chunk->bytes + chunk->sent, .iov_len = first};
    connection->pieces[1] = (struct iovec){.iov_base = (char *)chunk->memory + chunk->rest_offset, .iov_len = second};
    connection->vector = (struct msghdr){.msg_iov = connection->pieces, .msg_iovlen = second ? 2 : 1};
    return (struct uw_operation){.verb = UW_SEND_VECTOR, .data = &connection->vector};
}

static struct uw_operation next_send(struct uw_connection *connection, struct uw_chunk *chunk)
{
    struct uw_operation send;

    if (chunk->sent == chunk->length)
        return chunk->memory ? send_bytes((char *)chunk->memory + chunk->rest_offset, (uint64_t)chunk->rest_left)
                             : send_file(chunk);
    if (chunk->rest_left && chunk->memory)
        return send_both(connection, chunk);
    send = send_bytes(chunk->bytes + chunk->sent, chunk->length - chunk->sent);
    send.more = chunk->rest_left > 0;
    return send;
}

static void start_send(struct uw_connection *connection, struct uw_chunk *chunk)
{
    struct uw_server *server = connection->server;

    if (chunk->flags & UW_CHUNK_TO_CLOSE)
        uw_connection_endanger(connection);
    connection->send = next_send(connection, chunk);
    connection->send.complete = sent;
    connection->send.fd = connection->fd;
    connection->taken = 0;
    connection->excused = false;
    uw_connection_await_write(connection, server->loop.now_ns + server->settings.write_timeout_ns);
    uw_submit(&server->loop, &connection->send);
}

bool uw_connection_takes_on(struct uw_connection *connection)
{
    const struct uw_operation *send = &connection->send;

    if (send->verb != UW_SEND_FILE || send->done - connection->taken < UW_SEND_BYTES_MAX)
        return false;
    connection->taken = send->done;
    return true;
}

static void pop(struct uw_connection *connection)
{
    struct uw_chunk *chunk = connection->outgoing;
    bool last = chunk->flags & UW_CHUNK_CLOSE;

    connection->outgoing = chunk->next;
    if (!connection->outgoing)
        connection->outgoing_last = NULL;
    uw_chunk_free(chunk);
    if (last)
        uw_connection_linger(connection);
    else if (!connection->outgoing && connection->state == UW_CONNECTION_IDLE)
        uw_connection_await_next(connection);
}

void uw_connection_flush(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    while (!connection->send.pending && connection->state != UW_CONNECTION_CLOSED && connection->outgoing) {
        struct uw_chunk *chunk = connection->outgoing;

        if (weight(chunk))
            start_send(connection, chunk);
        else
            pop(connection);
    }
}

/* After a result: more to send, or somebody to tell that there is room again. */
static void send_on(struct uw_connection *connection)
{
    connection->write_deadline_ns = UW_FOREVER;
    uw_connection_flush(connection);
    tell_drained(connection);
    uw_connection_try_detach(connection);
    if (!connection->outgoing)
        uw_connection_continue(connection);
}

static void count_sent(struct uw_connection *connection, size_t count)
{
    struct uw_chunk *chunk = connection->outgoing;
    size_t bytes = chunk->length - chunk->sent;

    if (bytes > count)
        bytes = count;
    chunk->sent += bytes;
    chunk->rest_offset += (int64_t)(count - bytes);
    chunk->rest_left -= (int64_t)(count - bytes);
    atomic_fetch_sub(&connection->outgoing_bytes, count);
}

static void sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_connection *connection = uw_owner(operation, struct uw_connection, send);

    (void)loop;
    if (connection->state == UW_CONNECTION_CLOSED) {
        uw_connection_reap(connection);
    } else if (result <= 0) {
        /* Gone; or the file ended before it was to: the client sees it by the early end. */
        uw_connection_close(connection);
    } else {
        count_sent(connection, (size_t)result);
        send_on(connection);
    }
}
