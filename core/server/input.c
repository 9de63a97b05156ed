/* From bytes to requests. A connection has one request at a time; what a client sends ahead (pipelining, RFC 9112,
 * section 9.3.2) is kept until its turn, up to a limit, after which the connection is not read until the requests
 * before have been answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "http1/answers.h"
#include "http1/writer.h"
#include "server/connection.h"
#include "server/refusal.h"

#define GATHERED_BYTES_MAX 16384 /* a piece of content as large needs no gathering */

static bool answering(const struct uw_connection *connection)
{
    return connection->state >= UW_CONNECTION_ANSWERING;
}

/* A client that does not read its answers has its next requests wait. */
static bool may_process(const struct uw_connection *connection)
{
    return !answering(connection) && atomic_load(&connection->outgoing_bytes) <= UW_OUTGOING_HIGH_BYTES;
}

static struct uw_request *new_request(struct uw_connection *connection)
{
    struct uw_request *request = uw_slab_take(&connection->server->requests);

    if (!request)
        return NULL;
    request->next = NULL;
    request->server = connection->server;
    request->connection = connection;
    request->user = NULL;
    request->writer = &uw_http1_writer;
    request->bytes = request->inline_bytes;
    request->bytes_length = 0;
    request->bytes_capacity = sizeof request->inline_bytes;
    atomic_init(&request->await_drain, false);
    atomic_init(&request->lost, false);
    atomic_init(&request->posted, 0);
    uw_body_init(&request->body);
    uw_http_head_init(&request->head, &connection->server->settings.http);
    return request;
}

void uw_request_free(struct uw_server *server, struct uw_request *request)
{
    UW_ASSERT_OWNER(&server->loop);
    if (request->bytes != request->inline_bytes)
        free(request->bytes);
    uw_body_free(&request->body);
    uw_slab_give(&server->requests, request);
}

static void tell_refused(const struct uw_connection *connection, int status, size_t bytes)
{
    const struct uw_handler *handler = &connection->server->handler;

    if (handler->refused) {
        struct uw_access refusal = uw_refusal(connection->request, status, (int64_t)bytes);

        handler->refused(handler->context, &refusal);
    }
}

void uw_connection_refuse(struct uw_connection *connection, int status)
{
    size_t bytes;
    struct uw_chunk *chunk = uw_http1_refusal(status, &bytes);

    UW_ASSERT_OWNER(&connection->server->loop);
    connection->server->counts.refused++;
    tell_refused(connection, status, bytes);
    connection->state = UW_CONNECTION_FLUSHING;
    uw_pending_drop(&connection->pending);
    uw_connection_await_read(connection, UW_FOREVER);
    uw_request_free(connection->server, connection->request);
    connection->request = NULL;
    if (chunk) {
        chunk->flags = UW_CHUNK_CLOSE;
        uw_connection_enqueue(connection, chunk);
    } else {
        uw_connection_close(connection);
    }
}

static void dispatch(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;

    server->counts.requests++;
    connection->state = UW_CONNECTION_ANSWERING;
    uw_connection_await_read(connection, UW_FOREVER);
    server->handler.notify(server->handler.context, connection->request, UW_EVENT_REQUEST);
}

static void send_continue(struct uw_connection *connection)
{
    struct uw_chunk *chunk = uw_http1_continue();

    if (chunk)
        uw_connection_enqueue(connection, chunk);
}

/* A steady sender may take as long as it needs, one that trickles may not. */
static void await_body(struct uw_connection *connection)
{
    const struct uw_request *request = connection->request;
    int64_t allowed_ns = (int64_t)(request->body.length / UW_BODY_BYTES_PER_SECOND_MIN) * UW_NS_PER_SECOND;

    uw_connection_await_read(connection,
                             request->body_start_ns + connection->server->settings.body_timeout_ns + allowed_ns);
}

/* The head is complete: what comes next? */
static void begin_body(struct uw_connection *connection, bool more_has_come)
{
    struct uw_request *request = connection->request;
    const struct uw_http_head *head = &request->head;

    connection->requests++;
    request->body_left = head->content_length;
    if (!head->chunked && (!head->has_content_length || head->content_length == 0)) {
        dispatch(connection);
        return;
    }
    if (head->has_content_length && head->content_length > connection->server->settings.body_bytes_max) {
        uw_connection_refuse(connection, 413);
        return;
    }
    uw_http_chunked_init(&request->chunked);
    request->body_start_ns = connection->server->loop.now_ns;
    connection->state = UW_CONNECTION_BODY;
    if (head->expect_continue && !more_has_come)
        send_continue(connection);
    await_body(connection);
}

static int reserve_head(struct uw_request *request, size_t length)
{
    size_t capacity = request->bytes_capacity;
    char *bytes;

    if (length <= capacity)
        return 0;
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

static int keep_head(struct uw_request *request, const char *bytes, size_t length)
{
    int error = reserve_head(request, request->bytes_length + length);

    if (error)
        return error;
    memcpy(request->bytes + request->bytes_length, bytes, length);
    request->bytes_length += (uint32_t)length;
    return 0;
}

/* Its beginning, where the request line is, is kept for whoever is told. Returns the bytes consumed. */
static size_t refuse_head(struct uw_connection *connection, int status, const char *bytes, size_t length)
{
    struct uw_request *request = connection->request;

    request->bytes_length = (uint32_t)(length < sizeof request->inline_bytes ? length : sizeof request->inline_bytes);
    memcpy(request->inline_bytes, bytes, request->bytes_length);
    uw_connection_refuse(connection, status);
    return length;
}

/* Parses where the bytes are, and keeps only what belongs to the head. Returns the bytes consumed. */
static size_t read_head_at_once(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_request *request = connection->request;
    int result = uw_http_parse(&request->head, bytes, length);
    size_t used = result > 0 ? (size_t)result : length;

    if (result < 0)
        used = refuse_head(connection, -result, bytes, length);
    else if (keep_head(request, bytes, used))
        uw_connection_refuse(connection, 503);
    else if (result > 0)
        begin_body(connection, used < length);
    return used;
}

/* A head that comes in pieces: parsed in the request's own memory. */
static size_t read_head_on(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_request *request = connection->request;
    size_t before = request->bytes_length, used;
    int result;

    if (keep_head(request, bytes, length)) {
        uw_connection_refuse(connection, 503);
        return length;
    }
    result = uw_http_parse(&request->head, request->bytes, request->bytes_length);
    if (result == 0)
        return length;
    if (result < 0) {
        uw_connection_refuse(connection, -result);
        return length;
    }
    request->bytes_length = (uint32_t)result;
    used = (size_t)result - before;
    begin_body(connection, used < length);
    return used;
}

static size_t begin_head(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_server *server = connection->server;
    bool first = connection->requests == 0;

    connection->request = new_request(connection);
    if (!connection->request) {
        uw_connection_close(connection);
        return length;
    }
    connection->state = UW_CONNECTION_HEAD;
    length = read_head_at_once(connection, bytes, length);
    /* The first head's deadline runs from accepting. */
    if (connection->state == UW_CONNECTION_HEAD && !first)
        uw_connection_await_read(connection, server->loop.now_ns + server->settings.head_timeout_ns);
    return length;
}

static int append_body(struct uw_connection *connection, const char *data, size_t length)
{
    const struct uw_server_settings *settings = &connection->server->settings;
    struct uw_request *request = connection->request;
    int error;

    if (request->body.length + length > settings->body_bytes_max)
        return 413;
    do
        error =
            uw_body_append(&request->body, data, length, request->head.content_length, settings->body_memory_bytes_max);
    while (uw_descriptors_ran_out(error) && uw_server_give_up(connection->server));
    return error ? 503 : 0;
}

static size_t read_sized_body(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_request *request = connection->request;
    size_t used = length < request->body_left ? length : (size_t)request->body_left;
    int status = append_body(connection, bytes, used);

    request->body_left -= used;
    if (status)
        uw_connection_refuse(connection, status);
    else if (request->body_left == 0)
        dispatch(connection);
    return used;
}

/* Small pieces of content, appended together: each append to a file is a system call. */
struct gathered {
    char bytes[GATHERED_BYTES_MAX];
    size_t length;
};

/* The three return 0 or the status of a refusal. */
static int append_gathered(struct uw_connection *connection, struct gathered *gathered)
{
    size_t length = gathered->length;

    gathered->length = 0;
    return length ? append_body(connection, gathered->bytes, length) : 0;
}

static int gather(struct uw_connection *connection, struct gathered *gathered, const char *data, size_t length)
{
    int status = gathered->length + length > sizeof gathered->bytes ? append_gathered(connection, gathered) : 0;

    if (status)
        return status;
    if (length >= sizeof gathered->bytes)
        return append_body(connection, data, length);
    memcpy(gathered->bytes + gathered->length, data, length);
    gathered->length += length;
    return 0;
}

static int read_chunks(struct uw_connection *connection, const char *bytes, size_t length, size_t *used)
{
    struct uw_http_chunked *chunked = &connection->request->chunked;
    struct gathered gathered;
    int status = 0;

    gathered.length = 0;
    while (*used < length && !chunked->done && !status) {
        const char *data;
        size_t data_length;
        int64_t read = uw_http_chunked_read(chunked, bytes + *used, length - *used, &data, &data_length);

        if (read < 0)
            return (int)-read;
        *used += (size_t)read;
        status = gather(connection, &gathered, data, data_length);
    }
    return status ? status : append_gathered(connection, &gathered);
}

static size_t read_chunked_body(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = 0;
    int status = read_chunks(connection, bytes, length, &used);

    if (status)
        uw_connection_refuse(connection, status);
    else if (connection->request->chunked.done)
        dispatch(connection);
    return status ? length : used;
}

static size_t read_body(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = connection->request->head.chunked ? read_chunked_body(connection, bytes, length)
                                                    : read_sized_body(connection, bytes, length);

    if (connection->state == UW_CONNECTION_BODY)
        await_body(connection);
    return used;
}

/* Consumes input as far as the state allows; returns the bytes consumed. Iterative, also when the handler answers at
 * once. */
static size_t process(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = 0;

    connection->processing = true;
    while (used < length && may_process(connection)) {
        if (connection->state == UW_CONNECTION_IDLE)
            used += begin_head(connection, bytes + used, length - used);
        else if (connection->state == UW_CONNECTION_HEAD)
            used += read_head_on(connection, bytes + used, length - used);
        else
            used += read_body(connection, bytes + used, length - used);
    }
    connection->processing = false;
    return used;
}

/* Bytes whose turn has not come. One who sends more of them than are kept is received from in single steps from then
 * on; until now the kernel may have received more at once. */
static void receive_ahead(struct uw_connection *connection, const char *bytes, size_t length)
{
    if (uw_pending_append(&connection->pending, bytes, length)) {
        uw_connection_close(connection);
        return;
    }
    if (connection->pending.length >= UW_PENDING_BYTES_MAX && !connection->paused) {
        connection->paused = true;
        connection->receive.stepwise = true;
        uw_cancel(&connection->server->loop, &connection->receive);
    }
}

static void receive_bytes(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = 0;

    if (connection->state >= UW_CONNECTION_FLUSHING)
        return; /* dropped */
    if (!connection->pending.length)
        used = process(connection, bytes, length);
    if (used < length && connection->state < UW_CONNECTION_FLUSHING)
        receive_ahead(connection, bytes + used, length - used);
}

static void end_of_input(struct uw_connection *connection)
{
    connection->input_ended = true;
    /* A client may close its side after its last request and still wait for the answer. */
    if (connection->state == UW_CONNECTION_LINGERING || (!answering(connection) && !connection->outgoing))
        uw_connection_close(connection);
}

/* Receiving has ended: at the client's wish, at ours, or by an error. */
static void receive_ended(struct uw_connection *connection, int32_t result)
{
    if (connection->state == UW_CONNECTION_CLOSED)
        uw_connection_reap(connection);
    else if (connection->state == UW_CONNECTION_DETACHING)
        uw_connection_try_detach(connection);
    else if (result == -ECANCELED)
        uw_connection_continue(connection);
    else if (result == 0)
        end_of_input(connection);
    else
        uw_connection_close(connection);
}

void uw_connection_received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_connection *connection = uw_owner(operation, struct uw_connection, receive);

    (void)loop;
    if (result > 0)
        receive_bytes(connection, operation->data, (size_t)result);
    else
        receive_ended(connection, result);
}

static void consume_pending(struct uw_connection *connection)
{
    struct uw_pending *pending = &connection->pending;
    size_t used = process(connection, uw_pending_bytes(pending), pending->length);

    if (connection->state < UW_CONNECTION_FLUSHING)
        uw_pending_take(pending, used);
}

static void resume_receiving(struct uw_connection *connection)
{
    if (!connection->paused || connection->receive.pending || connection->pending.length >= UW_PENDING_BYTES_MAX)
        return;
    connection->paused = false;
    uw_submit(&connection->server->loop, &connection->receive);
}

void uw_connection_continue(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    if (connection->processing || connection->state == UW_CONNECTION_CLOSED)
        return;
    if (connection->pending.length && may_process(connection))
        consume_pending(connection);
    resume_receiving(connection); /* after the last answer, too: one who is not read from may not read either */
    if (connection->state >= UW_CONNECTION_FLUSHING)
        return;
    /* What came before the end of input has been answered, or will never be complete. */
    if (connection->input_ended && may_process(connection) && !connection->outgoing)
        uw_connection_close(connection);
}
