#include "server/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/invariant.h"
#include "io/hang_up.h"
#include "transport/tls_peer.h"

#define LOOPBACK "127.0.0.1" /* what a client on a UNIX socket is taken for */

static const struct uw_endpoint_owner owner;

static struct uw_connection *connection_of(struct uw_endpoint *endpoint)
{
    return uw_owner(endpoint, struct uw_connection, endpoint);
}

/* Asked for at once: later the client may have reset the connection, and nobody knows who it was. */
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

static void initialize(struct uw_connection *connection, struct uw_service *service, const struct uw_listener *listener,
                       int fd)
{
    *connection = (struct uw_connection){
        .service = service,
        .listener = listener,
        .protocol = listener->protocols[0],
        .endpoint = {.transport = listener->transport,
                     .owner = &owner,
                     .loop = &service->loop,
                     .context = listener->tls,
                     .fd = fd},
        .read_deadline_ns = UW_FOREVER,
        .write_deadline_ns = UW_FOREVER,
    };
    uw_list_init(&connection->work);
}

/* Whoever begins a handshake has a place as long as others do not need it more. */
static void begin_handshake(struct uw_connection *connection)
{
    struct uw_service *service = connection->service;

    uw_list_append(&service->handshaking, &connection->work);
    if (++service->handshakes > UW_HANDSHAKES_MAX)
        uw_connection_close(uw_owner(service->handshaking.next, struct uw_connection, work));
}

static void begin(struct uw_connection *connection)
{
    struct uw_service *service = connection->service;

    uw_list_append(&service->all, &connection->link);
    uw_connection_await_read(connection, service->loop.now_ns + service->settings.head_timeout_ns);
    if (connection->endpoint.transport->open(&connection->endpoint))
        uw_connection_close(connection);
    else if (connection->state == UW_CONNECTION_HANDSHAKE)
        begin_handshake(connection);
}

void uw_connection_open(struct uw_service *service, const struct uw_listener *listener, int fd)
{
    struct uw_connection *connection = uw_slab_take(&service->connections);

    UW_ASSERT_OWNER(&service->loop);
    service->counts.accepted++;
    if (!connection) {
        uw_hang_up(fd);
        return;
    }
    initialize(connection, service, listener, fd);
    if (note_remote(connection)) {
        begin(connection);
    } else { /* gone already */
        uw_slab_give(&service->connections, connection);
        uw_hang_up(fd);
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
    connection->state = UW_CONNECTION_OPEN;
    connection->protocol = agreed_upon(connection);
    connection->protocol->opened(connection);
    receive(connection);
    if (atomic_load(&connection->service->draining))
        uw_connection_drain(connection);
}

void uw_connection_switch(struct uw_connection *connection, const struct uw_protocol *protocol)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    memset(connection->protocol_state, 0, sizeof connection->protocol_state);
    connection->protocol = protocol;
    protocol->opened(connection);
}

/* The timer is only ever moved to an earlier time; one that comes early finds the true deadline and goes on to it. A
 * kept connection so touches the timing wheel about once a time-out instead of twice a request. */
static void await(struct uw_connection *connection)
{
    int64_t deadline_ns = connection->read_deadline_ns < connection->write_deadline_ns ? connection->read_deadline_ns
                                                                                       : connection->write_deadline_ns;

    if (deadline_ns != UW_FOREVER && (!connection->timer.active || connection->timer.deadline_ns > deadline_ns))
        uw_timer_start(&connection->service->loop, &connection->timer, deadline_ns);
    connection->timer.harmless = connection->timer.deadline_ns < deadline_ns;
}

void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    connection->read_deadline_ns = deadline_ns;
    await(connection);
}

static void await_write(struct uw_connection *connection)
{
    const struct uw_service *service = connection->service;

    connection->write_deadline_ns = service->loop.now_ns + service->settings.write_timeout_ns;
    await(connection);
}

/* Whoever is merely silent is let go. */
static void read_timeout(struct uw_connection *connection)
{
    connection->read_deadline_ns = UW_FOREVER;
    if (uw_connection_is_open(connection)) {
        await(connection); /* a send may be under way */
        connection->protocol->timed_out(connection);
        return;
    }
    if (connection->state == UW_CONNECTION_HANDSHAKE)
        connection->service->counts.timeouts++;
    uw_connection_close(connection);
}

/* Whether the client has taken its share of a file since the last deadline, and so gets another. */
static bool takes_on(struct uw_connection *connection)
{
    size_t progress = connection->endpoint.transport->progress(&connection->endpoint);

    if (progress - connection->taken < UW_SEND_BYTES_MAX)
        return false;
    connection->taken = progress;
    return true;
}

/* Nobody has been slow whom the loop could not send to, because its thread was away. Once for each send: a loop that is
 * always late has time-outs, too. */
static bool excuse(struct uw_connection *connection)
{
    if (connection->excused || connection->service->loop.now_ns - connection->write_deadline_ns < UW_AWAY_NS)
        return false;
    connection->excused = true;
    return true;
}

void uw_connection_timeout(struct uw_connection *connection)
{
    int64_t now_ns = connection->service->loop.now_ns;

    UW_ASSERT_OWNER(&connection->service->loop);
    if (connection->timer.harmless) {
        await(connection); /* even if that has passed meanwhile: the loop has not looked for its sake */
    } else if (connection->write_deadline_ns <= now_ns && (takes_on(connection) || excuse(connection))) {
        await_write(connection);
    } else if (connection->write_deadline_ns <= now_ns) {
        connection->service->counts.timeouts++;
        uw_connection_close(connection);
    } else if (connection->read_deadline_ns <= now_ns) {
        read_timeout(connection);
    } else {
        await(connection);
    }
}

void uw_connection_drain(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    if (uw_connection_is_open(connection))
        connection->protocol->drain(connection);
}

/* Between two events. */
static void check(const struct uw_connection *connection)
{
    const struct uw_outgoing *outgoing = &connection->outgoing;

    UW_INVARIANT(!connection->endpoint.sending || outgoing->first);
    UW_INVARIANT(!outgoing->first == !outgoing->last);
    UW_INVARIANT(outgoing->bytes == uw_outgoing_sum(outgoing));
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

/* The last answer; or the transport's last word behind it, for which there was no room. */
static bool is_leaving(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_FLUSHING ||
           (connection->state == UW_CONNECTION_LINGERING && connection->endpoint.send.pending);
}

static void receive_ended(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_connection *connection = connection_of(endpoint);

    connection->receiving = false;
    connection->input_ended |= result == 0;
    if (uw_connection_is_open(connection))
        connection->protocol->receive_ended(connection, result);
    else if (result == -ECANCELED)
        uw_connection_resume(connection); /* one who is not read from may not read the last answer either */
    else if (result || !is_leaving(connection))
        uw_connection_close(connection);
}

void uw_connection_pause(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    connection->paused = true;
    if (connection->receiving)
        connection->endpoint.transport->pause(&connection->endpoint);
}

void uw_connection_resume(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    if (!connection->paused || connection->receiving || uw_connection_is_closed(connection))
        return;
    connection->paused = false;
    receive(connection);
}

static void mark_dirty(struct uw_connection *connection)
{
    if (uw_list_empty(&connection->work))
        uw_list_append(&connection->service->dirty, &connection->work);
}

void uw_connection_go_on_later(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    connection->goes_on = true;
    mark_dirty(connection);
}

/* What the protocol sends meanwhile leaves together with what was there. */
void uw_connection_end_turn(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    if (connection->goes_on) {
        connection->goes_on = false;
        if (uw_connection_is_open(connection))
            connection->protocol->go_on(connection);
    }
    if (uw_connection_is_closed(connection))
        return;
    if (!connection->goes_on)
        uw_list_remove(&connection->work);
    uw_connection_flush(connection);
    check(connection);
}

void uw_connection_queue(struct uw_connection *connection, struct uw_chunk *chunk)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    if (chunk->flags & UW_CHUNK_TO_CLOSE)
        uw_connection_endanger(connection);
    chunk->flags &= UW_CHUNK_CLOSE;
    uw_outgoing_append(&connection->outgoing, chunk, connection->endpoint.sending);
    mark_dirty(connection);
}

void uw_connection_enqueue(struct uw_connection *connection, struct uw_stream *stream, struct uw_chunk *chunk)
{
    uw_outgoing_count(stream, chunk);
    uw_connection_queue(connection, chunk);
}

static void start_send(struct uw_connection *connection)
{
    connection->taken = 0;
    connection->excused = false;
    await_write(connection);
    connection->endpoint.transport->send(&connection->endpoint, connection->outgoing.first);
}

/* Ends in an orderly way after the last answer was sent: the client has time to read it. */
static void linger(struct uw_connection *connection)
{
    uw_connection_out_of_danger(connection);
    uw_outgoing_drop(&connection->outgoing);
    if (connection->endpoint.transport->shut(&connection->endpoint) ||
        (connection->input_ended && !connection->endpoint.send.pending)) {
        uw_connection_close(connection);
        return;
    }
    connection->state = UW_CONNECTION_LINGERING;
    uw_connection_await_read(connection, connection->service->loop.now_ns + UW_LINGER_NS);
}

void uw_connection_flush(struct uw_connection *connection)
{
    const struct uw_chunk *first = connection->outgoing.first;

    UW_ASSERT_OWNER(&connection->service->loop);
    if (connection->endpoint.sending || uw_connection_is_closed(connection) || !first)
        return;
    if (uw_chunk_left(first))
        start_send(connection);
    else
        linger(connection); /* only the last one stays when it has been sent */
}

static void sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct uw_connection *connection = connection_of(endpoint);

    if (count <= 0) { /* gone; or the file ended before it was to: the client sees it by the early end */
        uw_connection_close(connection);
        return;
    }
    uw_outgoing_take(&connection->outgoing, (size_t)count);
    connection->write_deadline_ns = UW_FOREVER;
    await(connection);
    uw_connection_flush(connection);
    if (uw_connection_is_open(connection))
        connection->protocol->sent(connection);
    check(connection);
}

void uw_connection_flush_and_end(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
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
