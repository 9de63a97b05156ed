#include <assert.h>
#include <errno.h>

#include "base/invariant.h"
#include "http1/http1.h"
#include "http1/http1_detach.h"
#include "http1/special_response.h"
#include "http1/writer.h"
#include "push/push_client_connection.h"
#include "server/refusal_record.h"
#include "websocket/handshake.h"

/* The socket buffers so many bytes. A shorter response is reported before it is sent. */
#define UW_REPORT_AT_ONCE_BYTES (16 * 1024)

static const struct uw_request_calls request_calls;

/* A client that does not read its responses must wait with its next requests. */
static bool may_read(const struct uw_connection *connection)
{
    const struct uw_http1 *http1 = uw_http1_of(connection);

    return uw_connection_is_open(connection) && http1->state < UW_HTTP1_ANSWERING &&
           connection->outgoing.bytes <= UW_OUTGOING_HIGH_BYTES;
}

/* Starts the wait for the next request, once the client has the response before. */
static void await_next(struct uw_connection *connection)
{
    const struct uw_server_context *server_context = connection->server_context;
    int64_t silence_ns =
        atomic_load(&server_context->draining) ? UW_DRAIN_IDLE_NS : server_context->settings.keep_alive_timeout_ns;

    uw_connection_await_read(connection, server_context->loop.now_ns + silence_ns);
    uw_connection_begin_idle(connection, server_context->loop.now_ns);
}

static void tell_refused(const struct uw_connection *connection, int status, size_t bytes)
{
    const struct uw_handler *handler = &connection->server_context->handler;

    if (handler->refused) {
        struct uw_access_record refusal =
            uw_refusal_record(uw_http1_of(connection)->reader.request, status, (int64_t)bytes);

        handler->refused(handler->context, &refusal);
    }
}

static void free_request(struct uw_http1 *http1)
{
    uw_request_free(http1->reader.request);
    http1->reader.request = NULL;
}

/* Responds with an error of the server, then closes the connection. */
static void refuse(struct uw_connection *connection, int status)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    size_t bytes;
    struct uw_chunk *chunk = uw_http1_refusal(status, &bytes);

    connection->server_context->counts.refused++;
    tell_refused(connection, status, bytes);
    uw_pipelined_input_drop(&http1->pending);
    free_request(http1);
    if (!chunk) {
        uw_connection_close(connection);
        return;
    }
    chunk->flags = UW_CHUNK_CLOSE;
    uw_connection_enqueue(connection, &http1->stream, chunk);
    uw_connection_flush_and_end(connection);
}

static bool is_other_websocket(const struct uw_request *request)
{
    return request->head.upgrade && request->server_context->handler.accepts_websockets &&
           uw_websocket_is_other_version(&request->head, request->bytes);
}

static void dispatch(struct uw_connection *connection)
{
    struct uw_server_context *server_context = connection->server_context;
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (is_other_websocket(http1->reader.request)) {
        refuse(connection, 426);
        return;
    }
    server_context->counts.requests++;
    http1->reader.request->complete_ns = server_context->loop.now_ns;
    http1->state = UW_HTTP1_ANSWERING;
    uw_connection_await_read(connection, UW_FOREVER);
    server_context->handler.notify(server_context->handler.context, http1->reader.request, UW_EVENT_REQUEST);
}

static void send_continue(struct uw_connection *connection)
{
    struct uw_chunk *chunk = uw_http1_continue();

    if (chunk)
        uw_connection_enqueue(connection, &uw_http1_of(connection)->stream, chunk);
}

/* A steady sender may take as long as it needs, but a client that trickles bytes may not. */
static void await_content(struct uw_connection *connection)
{
    const struct uw_http1 *http1 = uw_http1_of(connection);
    uint64_t seconds = http1->reader.request->body.length / UW_SPOOLED_BODY_BYTES_PER_SECOND_MIN;

    uw_connection_await_read(connection, http1->content_start_ns +
                                             connection->server_context->settings.body_timeout_ns +
                                             (int64_t)seconds * UW_NS_PER_SECOND);
}

static void begin_content(struct uw_connection *connection, bool more_has_come)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    http1->state = UW_HTTP1_CONTENT;
    http1->requests++;
    http1->content_start_ns = connection->server_context->loop.now_ns;
    if (http1->reader.request->head.expect_continue && !more_has_come)
        send_continue(connection);
}

static bool begin_request(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_request *request = uw_request_new(connection->server_context, &http1->stream, &request_calls);

    if (!request) {
        uw_connection_close(connection);
        return false;
    }
    uw_connection_end_idle(connection);
    uw_http1_reader_begin(&http1->reader, request);
    http1->state = UW_HTTP1_HEAD;
    return true;
}

/* Waits for the rest of a head or of content. The first head's deadline counts from the accept. */
static void await_more(struct uw_connection *connection, bool head_began)
{
    const struct uw_http1 *http1 = uw_http1_of(connection);
    const struct uw_server_context *server_context = connection->server_context;

    if (http1->state == UW_HTTP1_CONTENT)
        await_content(connection);
    else if (head_began && http1->requests > 0)
        uw_connection_await_read(connection, server_context->loop.now_ns + server_context->settings.head_timeout_ns);
}

/* Returns the number of bytes consumed. */
static size_t read_some(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    bool begins = http1->state == UW_HTTP1_IDLE;
    size_t used = 0;
    int result;

    if (begins && !begin_request(connection))
        return length;
    result = uw_http1_read(&http1->reader, bytes, length, &used);
    if (result < 0) {
        refuse(connection, -result);
        return length;
    }
    if (result == UW_HTTP1_BODY)
        begin_content(connection, used < length);
    else if (result == UW_HTTP1_COMPLETE && http1->state == UW_HTTP1_HEAD)
        http1->requests++;
    if (result == UW_HTTP1_COMPLETE)
        dispatch(connection);
    else
        await_more(connection, begins);
    return used;
}

/* Loops instead of recursing, even when the handler responds at once. Returns the number of bytes consumed. */
static size_t process(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = 0;

    while (used < length && may_read(connection))
        used += read_some(connection, bytes + used, length - used);
    return used;
}

/* Keeps pipelined bytes. */
static void keep(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (uw_pipelined_input_append(&http1->pending, bytes, length))
        uw_connection_close(connection);
    else if (http1->pending.length >= UW_PENDING_BYTES_MAX && !connection->paused)
        uw_connection_pause(connection);
}

/* Checks the invariants between two events of an open connection. */
static void check(const struct uw_connection *connection)
{
    const struct uw_http1 *http1 = uw_http1_of(connection);

    if (!uw_connection_is_open(connection))
        return;
    UW_INVARIANT(!http1->reader.request == (http1->state == UW_HTTP1_IDLE || http1->state == UW_HTTP1_UPGRADING));
    UW_INVARIANT(!http1->detached == (http1->state != UW_HTTP1_DETACHING));
}

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    size_t used = uw_http1_of(connection)->pending.length ? 0 : process(connection, bytes, length);

    if (used < length && uw_connection_is_open(connection))
        keep(connection, bytes + used, length - used);
    check(connection);
}

static void consume_pending(struct uw_connection *connection)
{
    struct uw_pipelined_input *pending = &uw_http1_of(connection)->pending;
    size_t used = process(connection, uw_pipelined_input_bytes(pending), pending->length);

    if (uw_connection_is_open(connection))
        uw_pipelined_input_take(pending, used);
}

static void upgrade(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_pipelined_input pending = http1->pending;

    uw_push_client_begin(http1->client, uw_pipelined_input_bytes(&pending), pending.length);
    uw_pipelined_input_free(&pending);
}

/* Continues with pipelined bytes. */
static void resume(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (http1->state == UW_HTTP1_UPGRADING)
        upgrade(connection);
    if (connection->protocol != &uw_protocol_http1 || http1->state == UW_HTTP1_DETACHING)
        return;
    if (http1->pending.length && may_read(connection))
        consume_pending(connection);
    if (!uw_connection_is_open(connection))
        return;
    if (http1->pending.length < UW_PENDING_BYTES_MAX)
        uw_connection_resume(connection);
    /* Requests before the end of input have their responses, or will never be complete. */
    if (connection->input_ended && may_read(connection) && uw_connection_is_flushed(connection))
        uw_connection_close_graceful(connection);
}

/* A client may shut down its sending side after its last request and still wait for the response. */
static void receive_ended(struct uw_connection *connection, int32_t result)
{
    if (result && result != -ECANCELED)
        uw_connection_close(connection); /* even during a detach, because the transport reports an error only once */
    else if (uw_http1_of(connection)->state == UW_HTTP1_DETACHING)
        uw_http1_try_detach(connection);
    else
        resume(connection);
}

static void sent(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (uw_http1_is_handled(http1))
        uw_request_notify_drained(http1->reader.request);
    if (http1->state == UW_HTTP1_DETACHING) {
        uw_http1_try_detach(connection); /* another protocol may own the connection after this */
        return;
    }
    check(connection);
    if (!uw_connection_is_open(connection) || !uw_connection_is_flushed(connection))
        return;
    if (http1->state == UW_HTTP1_IDLE)
        await_next(connection);
    resume(connection);
}

static bool has_more_to_do(const struct uw_connection *connection)
{
    return uw_http1_of(connection)->pending.length || connection->paused || connection->input_ended;
}

/* Decides the state of the connection after a response. */
static void answered(struct uw_connection *connection, unsigned flags)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (uw_connection_is_closed(connection)) {
        uw_connection_reap(connection);
    } else if (flags & UW_CHUNK_ABORT) {
        uw_connection_reset(connection);
    } else if (flags & UW_CHUNK_CLOSE) {
        uw_pipelined_input_drop(&http1->pending);
        uw_connection_flush_and_end(connection);
    } else {
        http1->state = UW_HTTP1_IDLE;
        if (uw_connection_is_flushed(connection))
            await_next(connection);
        if (has_more_to_do(connection))
            uw_connection_schedule_resume(connection);
    }
}

/* The connection need not wait for an empty chunk. */
static bool says_nothing(const struct uw_chunk *chunk)
{
    return uw_chunk_left(chunk) == 0 && !(chunk->flags & UW_CHUNK_CLOSE);
}

/* The last byte of a response has been sent, or the rest was dropped: its client has gone. */
static void response_ended(struct uw_chunk *chunk, size_t unsent)
{
    struct uw_request *request = chunk->request;

    request->sent = unsent == 0;
    if (unsent > 0)
        atomic_store(&request->client_gone, true);
    uw_request_count_unsent(request, unsent);
    uw_request_report(request);
    uw_request_free(request);
}

/* Returns whether the report of the response waits until its last byte is sent: its client may go before. */
static bool reports_later(const struct uw_connection *connection, unsigned flags)
{
    return flags & UW_CHUNK_FINISH && !(flags & (UW_CHUNK_ABORT | UW_CHUNK_UPGRADE)) &&
           !uw_connection_is_closed(connection) && connection->outgoing.bytes > UW_REPORT_AT_ONCE_BYTES &&
           !connection->outgoing.last->ended;
}

static void report_later(struct uw_http1 *http1, struct uw_chunk *last)
{
    last->ended = response_ended;
    last->request = http1->reader.request;
    http1->reader.request = NULL;
}

static void report_now(struct uw_connection *connection, unsigned flags)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (flags & UW_CHUNK_ABORT && !uw_connection_is_closed(connection))
        connection->unsent_bytes += connection->outgoing.bytes;
    uw_request_count_unsent(http1->reader.request, connection->unsent_bytes);
    uw_request_report(http1->reader.request);
    free_request(http1);
}

/* Takes the request back from the handler. */
static struct uw_connection *take_back(struct uw_request *request, unsigned flags)
{
    struct uw_connection *connection = request->stream->connection;
    struct uw_http1 *http1 = uw_http1_of(connection);

    assert(!atomic_load(&request->posted) && !http1->detached);
    if (reports_later(connection, flags))
        report_later(http1, connection->outgoing.last);
    else
        report_now(connection, flags);
    return connection;
}

/* Another protocol continues on the connection after this response. */
static void begin_upgrade(struct uw_request *request)
{
    struct uw_push_client *client = request->client;
    struct uw_connection *connection = take_back(request, UW_CHUNK_UPGRADE);
    struct uw_http1 *http1 = uw_http1_of(connection);

    http1->client = client;
    http1->state = UW_HTTP1_UPGRADING;
    uw_push_client_attach(client, connection);
    if (uw_connection_is_open(connection))
        uw_connection_schedule_resume(connection);
    else
        uw_connection_reap(connection);
}

static void refuse_chunk(struct uw_connection *connection, struct uw_chunk *chunk)
{
    connection->unsent_bytes += uw_chunk_left(chunk);
    uw_send_queue_refuse(chunk);
}

static void take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_connection *connection = request->stream->connection;
    unsigned flags = chunk->flags;

    if (uw_connection_is_closed(connection) || flags & UW_CHUNK_ABORT || says_nothing(chunk))
        refuse_chunk(connection, chunk);
    else
        uw_connection_queue(connection, chunk);
    if (flags & UW_CHUNK_UPGRADE)
        begin_upgrade(request);
    else if (flags & UW_CHUNK_FINISH)
        answered(take_back(request, flags), flags);
}

static void abort_request(struct uw_request *request)
{
    answered(take_back(request, UW_CHUNK_ABORT), UW_CHUNK_ABORT);
}

static void detach(struct uw_request *request, struct uw_detached *detached)
{
    uw_http1_detach(request->stream->connection, detached);
}

/* A request that is already in the socket is served: closing the connection would drop it (RFC 9112, section 9.5). */
static void end_idle(struct uw_connection *connection)
{
    if (uw_http1_of(connection)->state == UW_HTTP1_IDLE && uw_connection_has_more(connection))
        uw_connection_await_read(connection, connection->server_context->loop.now_ns + UW_LAST_LOOK_NS);
    else
        uw_connection_close_graceful(connection);
}

/* A client that was slow within a request gets a 408. A connection that is idle is closed. */
static void timed_out(struct uw_connection *connection)
{
    const struct uw_http1 *http1 = uw_http1_of(connection);

    if (http1->state == UW_HTTP1_HEAD || http1->state == UW_HTTP1_CONTENT) {
        connection->server_context->counts.timeouts++;
        refuse(connection, 408);
    } else if (http1->state != UW_HTTP1_DETACHING) {
        end_idle(connection);
    } else if (uw_http1_look_after_detaching(connection)) {
        resume(connection);
    }
}

static void drain(struct uw_connection *connection)
{
    int64_t deadline_ns = connection->server_context->loop.now_ns + UW_DRAIN_IDLE_NS;

    if (uw_http1_of(connection)->state == UW_HTTP1_IDLE && uw_connection_is_flushed(connection) &&
        connection->read_deadline_ns > deadline_ns)
        uw_connection_await_read(connection, deadline_ns);
}

static void opened(struct uw_connection *connection)
{
    uw_http1_of(connection)->stream.connection = connection;
    uw_connection_begin_idle(connection, connection->server_context->loop.now_ns + UW_FIRST_BYTES_NS);
}

static bool response_in_progress(const struct uw_connection *connection)
{
    return uw_http1_is_handled(uw_http1_of(connection));
}

/* The client has gone within the content of its request. */
static void abandon(struct uw_request *request)
{
    atomic_store(&request->client_gone, true);
    uw_request_report(request);
}

static void closed(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (http1->detached)
        uw_http1_refuse_detaching(connection);
    if (http1->client)
        uw_push_client_closed(http1->client);
    if (uw_http1_is_handled(http1))
        uw_request_mark_client_gone(http1->reader.request);
    else if (http1->reader.request && http1->state == UW_HTTP1_CONTENT)
        abandon(http1->reader.request);
    if (http1->reader.request && !uw_http1_is_handled(http1))
        free_request(http1);
}

static bool released(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (http1->reader.request || (http1->client && !uw_push_client_is_done(http1->client)))
        return false;
    uw_pipelined_input_free(&http1->pending);
    return true;
}

static void discarded(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (http1->reader.request)
        free_request(http1);
    if (http1->client)
        uw_push_client_discard(http1->client);
    uw_pipelined_input_free(&http1->pending);
}

const struct uw_protocol uw_protocol_http1 = {
    .name = "http/1.1",
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

static const struct uw_request_calls request_calls = {
    .writer = &uw_http1_writer,
    .outgoing = uw_connection_outgoing,
    .disconnect = uw_connection_disconnect,
    .take_over = take_over,
    .abort = abort_request,
    .detach = detach,
};
