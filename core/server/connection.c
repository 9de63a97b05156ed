#include "server/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/invariant.h"
#include "io/shutdown_and_close.h"
#include "server/request.h"
#include "transport/tls_connection_info.h"

#define LOOPBACK "127.0.0.1" /* stands for a client on a UNIX socket */

static const struct uw_endpoint_owner owner;

static struct uw_connection *connection_of(struct uw_endpoint *endpoint)
{
    return uw_container_of(endpoint, struct uw_connection, endpoint);
}

/* Reads the address at once: getpeername fails after a reset. */
static bool note_remote(struct uw_connection *connection)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;

    if (getpeername(connection->endpoint.fd, (struct sockaddr *)&address, &size))
        return false;
    if (address.ss_family == AF_UNIX)
        memcpy(connection->remote, LOOPBACK, sizeof LOOPBACK);
    return address.ss_family == AF_UNIX || uw_address_text(&address, connection->remote, &connection->remote_port);
}

static void initialize(struct uw_connection *connection, struct uw_server_context *server_context,
                       const struct uw_listener *listener, int fd)
{
    *connection = (struct uw_connection){
        .server_context = server_context,
        .listener = listener,
        .protocol = listener->protocols[0],
        .endpoint = {.transport = listener->transport,
                     .owner = &owner,
                     .loop = &server_context->loop,
                     .context = listener->tls,
                     .fd = fd},
        .read_deadline_ns = UW_FOREVER,
        .write_deadline_ns = UW_FOREVER,
    };
    uw_list_init(&connection->work);
    uw_list_init(&connection->idle);
}

static struct uw_connection *oldest_handshake(const struct uw_server_context *server_context)
{
    return uw_container_of(server_context->handshaking.next, struct uw_connection, work);
}

static int64_t handshake_begun_ns(const struct uw_connection *connection)
{
    return connection->read_deadline_ns - connection->server_context->settings.head_timeout_ns;
}

/* Among many handshakes accepted at once, each gets UW_HANDSHAKE_GRACE_NS. */
static bool has_had_time(const struct uw_server_context *server_context, const struct uw_connection *connection)
{
    return server_context->loop.now_ns - handshake_begun_ns(connection) >= UW_HANDSHAKE_GRACE_NS ||
           server_context->handshakes > UW_HANDSHAKES_HARD_MAX;
}

/* A handshake may continue until too many younger ones arrive. */
static void begin_handshake(struct uw_connection *connection)
{
    struct uw_server_context *server_context = connection->server_context;

    uw_list_append(&server_context->handshaking, &connection->work);
    server_context->handshakes++;
    while (server_context->handshakes > UW_HANDSHAKES_MAX &&
           has_had_time(server_context, oldest_handshake(server_context)))
        uw_connection_close(oldest_handshake(server_context));
}

static void begin(struct uw_connection *connection)
{
    struct uw_server_context *server_context = connection->server_context;

    uw_list_append(&server_context->all, &connection->link);
    uw_connection_await_read(connection, server_context->loop.now_ns + server_context->settings.head_timeout_ns);
    if (connection->endpoint.transport->open(&connection->endpoint))
        uw_connection_close(connection);
    else if (connection->state == UW_CONNECTION_HANDSHAKE)
        begin_handshake(connection);
}

void uw_connection_open(struct uw_server_context *server_context, const struct uw_listener *listener, int fd)
{
    struct uw_connection *connection = uw_slab_alloc(&server_context->connections);

    UW_ASSERT_OWNER(&server_context->loop);
    server_context->counts.accepted++;
    if (!connection) {
        uw_shutdown_and_close(fd);
        return;
    }
    initialize(connection, server_context, listener, fd);
    if (note_remote(connection)) {
        begin(connection);
    } else { /* gone already */
        uw_slab_free(&server_context->connections, connection);
        uw_shutdown_and_close(fd);
    }
}

static void receive(struct uw_connection *connection)
{
    connection->receiving = true;
    connection->endpoint.transport->receive(&connection->endpoint);
}

/* The client may have named another protocol in its handshake. */
static const struct uw_protocol *agreed_upon(const struct uw_connection *connection)
{
    const struct uw_protocol *const *protocols = connection->listener->protocols;
    const struct uw_tls_peer *peer = uw_endpoint_peer(&connection->endpoint);

    for (int i = 0; peer && peer->protocol && protocols[i]; i++)
        if (strcmp(protocols[i]->name, peer->protocol) == 0)
            return protocols[i];
    return protocols[0];
}

static void ready(struct uw_endpoint *endpoint)
{
    struct uw_connection *connection = connection_of(endpoint);

    uw_connection_end_handshake(connection);
    connection->server_context->counts.tls_handshakes += connection->listener->tls != NULL;
    connection->state = UW_CONNECTION_OPEN;
    connection->protocol = agreed_upon(connection);
    connection->protocol->opened(connection);
    receive(connection);
    if (atomic_load(&connection->server_context->draining))
        uw_connection_drain(connection);
}

void uw_connection_switch(struct uw_connection *connection, const struct uw_protocol *protocol)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    memset(connection->protocol_state, 0, sizeof connection->protocol_state);
    connection->protocol = protocol;
    protocol->opened(connection);
}

/* The timer only moves to an earlier time. A timer that expires early finds the true deadline and restarts. So a
 * keep-alive connection touches the timing wheel about once a time-out instead of twice a request. */
static void await(struct uw_connection *connection)
{
    int64_t deadline_ns = connection->read_deadline_ns < connection->write_deadline_ns ? connection->read_deadline_ns
                                                                                       : connection->write_deadline_ns;

    if (deadline_ns != UW_FOREVER && (!connection->timer.active || connection->timer.deadline_ns > deadline_ns))
        uw_timer_start(&connection->server_context->loop, &connection->timer, deadline_ns);
    connection->timer.check_only = connection->timer.deadline_ns < deadline_ns;
}

void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->read_deadline_ns = deadline_ns;
    await(connection);
}

static void await_write(struct uw_connection *connection, int64_t time_ns)
{
    connection->write_deadline_ns = connection->server_context->loop.now_ns + time_ns;
    await(connection);
}

static void await_sent(struct uw_connection *connection)
{
    await_write(connection, connection->server_context->settings.write_timeout_ns);
}

/* Receiving has timed out: the protocol decides, or the connection closes. */
static void read_timeout(struct uw_connection *connection)
{
    connection->read_deadline_ns = UW_FOREVER;
    if (uw_connection_is_open(connection)) {
        await(connection); /* a send may be under way */
        connection->protocol->timed_out(connection);
        return;
    }
    if (connection->state == UW_CONNECTION_HANDSHAKE)
        connection->server_context->counts.timeouts++;
    uw_connection_close(connection);
}

/* Whether the client has received enough of a file since the last deadline, and so gets another deadline. */
static bool takes_on(struct uw_connection *connection)
{
    size_t progress = connection->endpoint.transport->progress(&connection->endpoint);

    if (progress - connection->taken < UW_SEND_BYTES_MAX)
        return false;
    connection->taken = progress;
    return true;
}

/* A client is not slow when the loop's thread was late and could not send to it. Each send gets this once, so that a
 * loop that is always late still has time-outs. */
static bool excuse(struct uw_connection *connection)
{
    if (connection->timeout_forgiven ||
        connection->server_context->loop.now_ns - connection->write_deadline_ns < UW_LATE_LOOP_NS)
        return false;
    connection->timeout_forgiven = true;
    return true;
}

/* Then the write deadline is the end of the cork. */
static bool is_held_back(const struct uw_connection *connection)
{
    return connection->corked && !connection->endpoint.sending;
}

void uw_connection_timeout(struct uw_connection *connection)
{
    int64_t now_ns = connection->server_context->loop.now_ns;

    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (connection->timer.check_only) {
        await(connection); /* even if that deadline has passed meanwhile: the loop did not wake for it */
    } else if (connection->write_deadline_ns <= now_ns && is_held_back(connection)) {
        uw_connection_uncork(connection);
    } else if (connection->write_deadline_ns <= now_ns && (takes_on(connection) || excuse(connection))) {
        await_sent(connection);
    } else if (connection->write_deadline_ns <= now_ns) {
        connection->server_context->counts.timeouts++;
        uw_connection_close(connection);
    } else if (connection->read_deadline_ns <= now_ns) {
        read_timeout(connection);
    } else {
        await(connection);
    }
}

static bool has_bytes(const struct uw_endpoint *endpoint)
{
    char byte;

    return recv(endpoint->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ||
           (endpoint->transport->holds_bytes && endpoint->transport->holds_bytes(endpoint));
}

size_t uw_connection_outgoing(const struct uw_request *request)
{
    const struct uw_endpoint *endpoint = &request->stream->connection->endpoint;
    size_t outgoing = atomic_load(&request->stream->outgoing_bytes), progress = endpoint->transport->progress(endpoint);

    return progress < outgoing ? outgoing - progress : 0;
}

bool uw_connection_has_more(const struct uw_connection *connection)
{
    return connection->receiving && has_bytes(&connection->endpoint);
}

/* Shortens the read deadline to `deadline_ns`, but not to less than UW_DRAIN_IDLE_NS from now. */
static void wait_less(struct uw_connection *connection, int64_t deadline_ns)
{
    int64_t soon_ns = connection->server_context->loop.now_ns + UW_DRAIN_IDLE_NS;

    deadline_ns = deadline_ns > soon_ns ? deadline_ns : soon_ns;
    if (connection->read_deadline_ns > deadline_ns)
        uw_connection_await_read(connection, deadline_ns);
}

void uw_connection_drain(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (uw_connection_is_open(connection))
        connection->protocol->drain(connection);
    else if (connection->state == UW_CONNECTION_HANDSHAKE)
        wait_less(connection, handshake_begun_ns(connection) + UW_HANDSHAKE_GRACE_NS);
    else if (connection->state == UW_CONNECTION_LINGERING && !connection->endpoint.send.pending)
        wait_less(connection, 0);
}

/* Between two events. */
static void check(const struct uw_connection *connection)
{
    const struct uw_send_queue *outgoing = &connection->outgoing;

    UW_INVARIANT(!connection->endpoint.sending || outgoing->first);
    UW_INVARIANT(!outgoing->first == !outgoing->last);
    UW_INVARIANT(outgoing->bytes == uw_send_queue_sum(outgoing));
    UW_INVARIANT(connection->state != UW_CONNECTION_HANDSHAKE || !outgoing->first);
    UW_INVARIANT(connection->state != UW_CONNECTION_LINGERING || !outgoing->first);
    UW_INVARIANT(!uw_connection_is_closed(connection) || !connection->timer.active);
}

static void received(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_connection *connection = connection_of(endpoint);

    if (uw_connection_is_open(connection))
        connection->protocol->received(connection, bytes, length);
    check(connection);
}

/* Whether the last response is being sent, or the transport's closing message, for which the socket had no space. */
static bool is_leaving(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_FLUSHING ||
           (connection->state == UW_CONNECTION_LINGERING && connection->endpoint.send.pending);
}

void uw_connection_begin_idle(struct uw_connection *connection, int64_t spare_ns)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->spare_ns = spare_ns;
    uw_connection_end_idle(connection);
    uw_list_append(&connection->server_context->idle, &connection->idle);
    connection->server_context->idles++;
}

void uw_connection_yield(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->yielding = true;
    connection->server_context->yielding++;
    if (connection->receiving)
        connection->endpoint.transport->pause(&connection->endpoint);
    else
        uw_connection_close_graceful(connection); /* the client has ended its input */
}

/* Receiving has ended. If the connection continues, it becomes the last idle one again. */
static void finish_yielding(struct uw_connection *connection)
{
    bool is_idle = !uw_list_empty(&connection->idle);

    if (is_idle && !has_bytes(&connection->endpoint)) {
        uw_connection_close_graceful(connection);
        return;
    }
    connection->yielding = false;
    connection->server_context->yielding--;
    if (is_idle)
        uw_connection_begin_idle(connection, connection->spare_ns);
    if (!connection->paused)
        receive(connection);
}

static void receive_ended(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_connection *connection = connection_of(endpoint);

    connection->receiving = false;
    connection->input_ended |= result == 0;
    if (connection->yielding && result == -ECANCELED && uw_connection_is_open(connection))
        finish_yielding(connection);
    else if (uw_connection_is_open(connection))
        connection->protocol->receive_ended(connection, result);
    else if (result == -ECANCELED)
        uw_connection_resume(connection); /* a client that is not read from may not read the last response either */
    else if (result || !is_leaving(connection))
        uw_connection_close(connection);
}

void uw_connection_pause(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->paused = true;
    if (connection->receiving)
        connection->endpoint.transport->pause(&connection->endpoint);
}

void uw_connection_resume(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (!connection->paused || connection->receiving || uw_connection_is_closed(connection))
        return;
    connection->paused = false;
    receive(connection);
}

static void mark_dirty(struct uw_connection *connection)
{
    if (uw_list_empty(&connection->work))
        uw_list_append(&connection->server_context->dirty, &connection->work);
}

void uw_connection_schedule_resume(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->resume_scheduled = true;
    mark_dirty(connection);
}

/* Output that the protocol adds here is sent together with earlier output. */
void uw_connection_end_turn(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (connection->resume_scheduled) {
        connection->resume_scheduled = false;
        if (uw_connection_is_open(connection))
            connection->protocol->resume(connection);
    }
    if (uw_connection_is_closed(connection))
        return;
    if (!connection->resume_scheduled)
        uw_list_remove(&connection->work);
    uw_connection_flush(connection);
    check(connection);
}

void uw_connection_queue(struct uw_connection *connection, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (chunk->flags & UW_CHUNK_TO_CLOSE)
        uw_connection_arm_reset(connection);
    chunk->flags &= UW_CHUNK_CLOSE;
    uw_send_queue_append(&connection->outgoing, chunk, connection->endpoint.sending);
    mark_dirty(connection);
}

void uw_connection_enqueue(struct uw_connection *connection, struct uw_stream *stream, struct uw_chunk *chunk)
{
    uw_send_queue_count(stream, chunk);
    uw_connection_queue(connection, chunk);
}

static void start_send(struct uw_connection *connection)
{
    connection->taken = 0;
    connection->timeout_forgiven = false;
    await_sent(connection);
    connection->endpoint.transport->send(&connection->endpoint, connection->outgoing.first);
}

/* Ends in an orderly way after the last answer was sent: the client has time to read it. */
static void linger(struct uw_connection *connection)
{
    uw_connection_disarm_reset(connection);
    uw_send_queue_drop(&connection->outgoing);
    if (connection->endpoint.transport->shut(&connection->endpoint) ||
        (connection->input_ended && !connection->endpoint.send.pending)) {
        uw_connection_close(connection);
        return;
    }
    connection->state = UW_CONNECTION_LINGERING;
    uw_connection_await_read(connection, connection->server_context->loop.now_ns + UW_LINGER_NS);
    if (atomic_load(&connection->server_context->draining))
        uw_connection_drain(connection);
}

void uw_connection_cork(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->corked = true;
}

void uw_connection_uncork(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (!connection->corked || uw_connection_is_closed(connection))
        return;
    if (is_held_back(connection))
        connection->write_deadline_ns = UW_FOREVER;
    connection->corked = false;
    mark_dirty(connection);
}

static void send_first(struct uw_connection *connection)
{
    if (uw_chunk_left(connection->outgoing.first))
        start_send(connection);
    else
        linger(connection); /* only the last one remains after it has been sent */
}

void uw_connection_flush(struct uw_connection *connection)
{
    const struct uw_send_queue *outgoing = &connection->outgoing;

    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (connection->endpoint.sending || uw_connection_is_closed(connection) || !outgoing->first)
        return;
    connection->corked &= outgoing->bytes <= UW_CORK_BYTES_MAX;
    if (!connection->corked)
        send_first(connection);
    else if (connection->write_deadline_ns == UW_FOREVER)
        await_write(connection, UW_CORK_NS);
}

/* An error of reading the file being sent; sockets do not give these. */
static bool is_of_file(int64_t error)
{
    return error == -EIO || error == -ESTALE;
}

static void sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct uw_connection *connection = connection_of(endpoint);

    if (count <= 0) { /* gone; or the file ended before it was to: the client sees it by the early end */
        if (is_of_file(count))
            uw_server_context_report_error(connection->server_context, UW_SYSTEM_ERROR_FILE, NULL, (int)count);
        uw_connection_close(connection);
        return;
    }
    uw_send_queue_take(&connection->outgoing, (size_t)count);
    connection->write_deadline_ns = UW_FOREVER;
    await(connection);
    uw_connection_flush(connection);
    if (uw_connection_is_open(connection))
        connection->protocol->sent(connection);
    check(connection);
}

void uw_connection_flush_and_end(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    connection->state = UW_CONNECTION_FLUSHING;
    uw_connection_await_read(connection, UW_FOREVER);
    uw_connection_resume(connection);
}

static void settled(struct uw_endpoint *endpoint)
{
    uw_connection_reap(connection_of(endpoint));
}

static const struct uw_endpoint_owner owner = {
    .ready = ready,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .settled = settled,
};
