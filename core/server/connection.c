#include "server/connection.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/backend.h"
#include "io/hang_up.h"

#define LOOPBACK "127.0.0.1" /* what a client on a UNIX socket is taken for */

/* Asked for at once: later the client may have reset the connection, and nobody knows who it was. */
static bool note_remote(struct uw_connection *connection)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;

    if (getpeername(connection->fd, (struct sockaddr *)&address, &size))
        return false;
    if (address.ss_family == AF_UNIX)
        memcpy(connection->remote, LOOPBACK, sizeof LOOPBACK);
    return address.ss_family == AF_UNIX || uw_address_text(&address, connection->remote, &connection->remote_port);
}

static void begin(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;

    uw_list_append(&server->all, &connection->link);
    uw_submit(&server->loop, &connection->receive);
    uw_connection_await_read(connection, server->loop.now_ns + server->settings.head_timeout_ns);
    if (atomic_load(&server->draining))
        uw_connection_drain(connection);
}

void uw_connection_open(struct uw_server *server, struct uw_listener *listener, int fd)
{
    struct uw_connection *connection = uw_slab_take(&server->connections);

    UW_ASSERT_OWNER(&server->loop);
    server->counts.accepted++;
    if (!connection) {
        uw_hang_up(fd);
        return;
    }
    *connection = (struct uw_connection){
        .server = server,
        .listener = listener,
        .fd = fd,
        .receive = {.verb = UW_RECEIVE, .fd = fd, .complete = uw_connection_received},
        .send = {.fd = fd},
        .read_deadline_ns = UW_FOREVER,
        .write_deadline_ns = UW_FOREVER,
    };
    atomic_init(&connection->outgoing_bytes, 0);
    uw_list_init(&connection->work);
    if (note_remote(connection)) {
        begin(connection);
    } else { /* gone already */
        uw_slab_give(&server->connections, connection);
        uw_hang_up(fd);
    }
}

/* The timer is only ever moved to an earlier time; one that comes early finds the true deadline and goes on to it. A
 * kept connection so touches the timing wheel about once a time-out instead of twice a request. */
static void await(struct uw_connection *connection)
{
    int64_t deadline_ns = connection->read_deadline_ns < connection->write_deadline_ns ? connection->read_deadline_ns
                                                                                       : connection->write_deadline_ns;

    if (deadline_ns != UW_FOREVER && (!connection->timer.active || connection->timer.deadline_ns > deadline_ns))
        uw_timer_start(&connection->server->loop, &connection->timer, deadline_ns);
}

void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    connection->read_deadline_ns = deadline_ns;
    await(connection);
}

void uw_connection_await_write(struct uw_connection *connection, int64_t deadline_ns)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    connection->write_deadline_ns = deadline_ns;
    await(connection);
}

void uw_connection_await_next(struct uw_connection *connection)
{
    const struct uw_server *server = connection->server;
    int64_t silence_ns = atomic_load(&server->draining) ? UW_DRAIN_IDLE_NS : server->settings.keep_alive_timeout_ns;

    uw_connection_await_read(connection, server->loop.now_ns + silence_ns);
}

static void answer_detached(struct uw_connection *connection, int fd)
{
    struct uw_detached *detached = connection->detached;

    connection->detached = NULL;
    detached->fd = fd;
    if (fd >= 0 && connection->pending.length)
        detached->bytes = uw_pending_give(&connection->pending, &detached->length);
    detached->done(detached);
}

/* The connection stays the server's. Receiving goes on as after a pause. */
static void give_up_detaching(struct uw_connection *connection)
{
    connection->state = UW_CONNECTION_ANSWERING;
    connection->paused = true;
    answer_detached(connection, -1);
    uw_connection_continue(connection);
}

static void await_taking(struct uw_connection *connection)
{
    connection->detached->outgoing = uw_request_outgoing(connection->request);
    uw_connection_await_read(connection, connection->server->loop.now_ns + UW_DETACH_STALL_NS);
}

static void await_room(struct uw_connection *connection)
{
    uw_connection_await_read(connection, connection->server->loop.now_ns + UW_DETACH_ROOM_NS);
}

static void look_at_taking(struct uw_connection *connection)
{
    struct uw_detached *detached = connection->detached;
    bool takes = uw_request_outgoing(connection->request) < detached->outgoing;

    if (takes && --detached->looks_left > 0)
        await_taking(connection);
    else if (detached->head_begun)
        uw_connection_close(connection);
    else
        give_up_detaching(connection);
}

static void look_for_room(struct uw_connection *connection)
{
    if (--connection->detached->looks_left > 0) {
        await_room(connection);
        uw_connection_try_detach(connection);
    } else {
        give_up_detaching(connection);
    }
}

static void detach_timeout(struct uw_connection *connection)
{
    if (connection->outgoing)
        look_at_taking(connection);
    else if (connection->detached->head)
        look_for_room(connection);
} /* else it waits for nothing but the kernel, to end the receiving */

/* A client that was slow within a request learns so; one that is merely silent is let go. */
static void read_timeout(struct uw_connection *connection)
{
    if (connection->state == UW_CONNECTION_HEAD || connection->state == UW_CONNECTION_BODY) {
        connection->server->counts.timeouts++;
        uw_connection_refuse(connection, 408);
    } else if (connection->state == UW_CONNECTION_DETACHING) {
        detach_timeout(connection);
    } else {
        uw_connection_close(connection);
    }
}

/* Nobody has been slow whom the loop could not send to, because its thread was away. Once for each send: a loop that is
 * always late has time-outs, too. */
static bool excuse(struct uw_connection *connection)
{
    if (connection->excused || connection->server->loop.now_ns - connection->write_deadline_ns < UW_AWAY_NS)
        return false;
    connection->excused = true;
    return true;
}

void uw_connection_timeout(struct uw_connection *connection)
{
    int64_t now_ns = connection->server->loop.now_ns;

    UW_ASSERT_OWNER(&connection->server->loop);
    if (connection->write_deadline_ns <= now_ns && (uw_connection_takes_on(connection) || excuse(connection))) {
        uw_connection_await_write(connection, now_ns + connection->server->settings.write_timeout_ns);
    } else if (connection->write_deadline_ns <= now_ns) {
        connection->server->counts.timeouts++;
        uw_connection_close(connection);
    } else if (connection->read_deadline_ns <= now_ns) {
        connection->read_deadline_ns = UW_FOREVER;
        read_timeout(connection);
    } else {
        await(connection);
    }
}

void uw_connection_drain(struct uw_connection *connection)
{
    int64_t deadline_ns = connection->server->loop.now_ns + UW_DRAIN_IDLE_NS;

    UW_ASSERT_OWNER(&connection->server->loop);
    if (connection->state == UW_CONNECTION_IDLE && !connection->outgoing && connection->read_deadline_ns > deadline_ns)
        uw_connection_await_read(connection, deadline_ns);
}

/* From here on the end of the connection is a reset, whoever closes the descriptor, the kernel included: the client
 * shall not take what it has for all there is. What cannot be reset is broken already. */
static void be_reset(struct uw_connection *connection)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    if (!connection->endangered)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    connection->endangered = true;
}

void uw_connection_endanger(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    be_reset(connection);
}

static void out_of_danger(struct uw_connection *connection)
{
    static const struct linger in_order = {.l_onoff = 0};

    if (connection->endangered)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &in_order, sizeof in_order);
    connection->endangered = false;
}

void uw_connection_linger(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    out_of_danger(connection);
    if (connection->input_ended || shutdown(connection->fd, SHUT_WR)) {
        uw_connection_close(connection);
        return;
    }
    connection->state = UW_CONNECTION_LINGERING;
    uw_pending_drop(&connection->pending);
    uw_connection_await_read(connection, connection->server->loop.now_ns + UW_LINGER_NS);
}

/* The handler still has a request: it hears of the loss when it next looks, or now if it waits. */
static void lose_request(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;
    struct uw_request *request = connection->request;

    atomic_store(&request->lost, true);
    if (atomic_exchange(&request->await_drain, false))
        server->handler.notify(server->handler.context, request, UW_EVENT_DRAINED);
}

/* The client shall not take half an answer for the whole. */
static void break_answer(struct uw_connection *connection)
{
    if (connection->state != UW_CONNECTION_CLOSED && (uw_connection_handled(connection) || connection->outgoing))
        be_reset(connection);
}

void uw_connection_cut(struct uw_connection *connection)
{
    be_reset(connection);
    uw_connection_close(connection);
}

void uw_connection_close(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;
    bool handled = uw_connection_handled(connection);

    UW_ASSERT_OWNER(&server->loop);
    if (connection->state == UW_CONNECTION_CLOSED)
        return;
    break_answer(connection);
    connection->state = UW_CONNECTION_CLOSED;
    uw_timer_stop(&server->loop, &connection->timer);
    uw_list_remove(&connection->work);
    uw_cancel(&server->loop, &connection->receive);
    uw_cancel(&server->loop, &connection->send);
    uw_connection_drop_outgoing(connection);
    if (connection->detached)
        answer_detached(connection, -1);
    if (handled) {
        lose_request(connection);
    } else if (connection->request) {
        uw_request_free(server, connection->request);
        connection->request = NULL;
    }
    uw_connection_reap(connection);
}

void uw_connection_end(struct uw_connection *connection)
{
    static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    if (connection->fd < 0)
        return;
    break_answer(connection);
    if (!connection->endangered || connect(connection->fd, &nobody, sizeof nobody)) /* which resets it */
        (void)shutdown(connection->fd, SHUT_RDWR);
}

/* Not at once: a caller further up may still be using the connection. */
void uw_connection_reap(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    if (connection->state == UW_CONNECTION_CLOSED && !connection->receive.pending && !connection->send.pending &&
        uw_list_empty(&connection->work))
        uw_list_append(&connection->server->dead, &connection->work);
}

void uw_connection_bury(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;

    UW_ASSERT_OWNER(&server->loop);
    uw_connection_drop_outgoing(connection);
    if (connection->fd >= 0) {
        uw_connection_end(connection);
        (void)uw_close(&server->loop, connection->fd); /* there is nothing to do about a failure */
        connection->fd = -1;
    }
    if (!connection->request) {
        uw_pending_free(&connection->pending);
        uw_list_remove(&connection->link);
        uw_slab_give(&server->connections, connection);
    }
    uw_server_resume_accepting(server);
}

void uw_connection_discard(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    connection->send.pending = false;
    uw_connection_drop_outgoing(connection);
    if (connection->request)
        uw_request_free(connection->server, connection->request);
    if (connection->fd >= 0)
        close(connection->fd);
    uw_pending_free(&connection->pending);
}

static void begin_detach(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_detached *detached = uw_owner(message, struct uw_detached, message);
    struct uw_connection *connection = detached->request->connection;

    UW_ASSERT_OWNER(loop);
    atomic_fetch_sub(&detached->request->posted, 1);
    if (connection->state != UW_CONNECTION_ANSWERING) {
        detached->done(detached);
        return;
    }
    connection->state = UW_CONNECTION_DETACHING;
    connection->detached = detached;
    detached->looks_left = UW_DETACH_LOOKS;
    await_taking(connection);
    uw_cancel(loop, &connection->receive);
    uw_connection_flush(connection);
    uw_connection_try_detach(connection);
}

/* By a message, from the loop's thread too: what was posted before arrives first. */
void uw_request_detach(struct uw_request *request, struct uw_detached *detached)
{
    *detached = (struct uw_detached){
        .message.receive = begin_detach, .request = request, .done = detached->done, .head = detached->head, .fd = -1};
    atomic_fetch_add(&request->posted, 1);
    uw_loop_post(&request->server->loop, &detached->message);
}

/* The kernel holds the answers before: one who does not take these would leave the head half sent. */
static bool has_room(const struct uw_connection *connection)
{
    struct pollfd item = {.fd = connection->fd, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* of a failure sending tells */
}

static void send_head(struct uw_connection *connection)
{
    struct uw_detached *detached = connection->detached;

    uw_connection_enqueue(connection, detached->head);
    detached->head = NULL;
    detached->head_begun = true;
    detached->looks_left = UW_DETACH_LOOKS;
    await_taking(connection);
    uw_connection_flush(connection);
}

/* From here on the connection is an empty shell that waits for the handler to finish the request. */
static void hand_out(struct uw_connection *connection)
{
    struct uw_server *server = connection->server;
    int fd = connection->fd;

    if (server->loop.backend->forget)
        server->loop.backend->forget(&server->loop, fd);
    out_of_danger(connection);
    connection->fd = -1;
    connection->state = UW_CONNECTION_CLOSED;
    uw_timer_stop(&server->loop, &connection->timer);
    uw_list_remove(&connection->work);
    answer_detached(connection, fd);
}

void uw_connection_try_detach(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server->loop);
    if (connection->state != UW_CONNECTION_DETACHING || connection->receive.pending || connection->send.pending ||
        connection->outgoing)
        return;
    if (!connection->detached->head)
        hand_out(connection);
    else if (has_room(connection))
        send_head(connection);
    else
        await_room(connection);
}

const char *uw_request_remote(const struct uw_request *request)
{
    return request->connection->remote;
}

int uw_request_remote_port(const struct uw_request *request)
{
    return request->connection->remote_port;
}

const char *uw_request_local(const struct uw_request *request, int *port)
{
    *port = request->connection->listener->port;
    return request->connection->listener->address;
}
