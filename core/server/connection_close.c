/* The end of a connection: orderly, or by a reset that shows the client an incomplete response. */
#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/backend.h"
#include "server/connection.h"
#include "server/request.h"

void uw_connection_arm_reset(struct uw_connection *connection)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    if (!connection->reset_armed)
        (void)setsockopt(connection->endpoint.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    connection->reset_armed = true;
}

void uw_connection_disarm_reset(struct uw_connection *connection)
{
    static const struct linger in_order = {.l_onoff = 0};

    if (connection->reset_armed)
        (void)setsockopt(connection->endpoint.fd, SOL_SOCKET, SO_LINGER, &in_order, sizeof in_order);
    connection->reset_armed = false;
}

void uw_connection_end_handshake(struct uw_connection *connection)
{
    if (connection->state != UW_CONNECTION_HANDSHAKE || uw_list_empty(&connection->work))
        return;
    uw_list_remove(&connection->work);
    connection->server_context->handshakes--;
}

/* The client must not mistake half a response for the whole. */
static bool response_in_progress(const struct uw_connection *connection)
{
    return connection->outgoing.first ||
           (connection->state == UW_CONNECTION_OPEN && connection->protocol->response_in_progress(connection));
}

void uw_connection_reset(struct uw_connection *connection)
{
    uw_connection_arm_reset(connection);
    uw_connection_close(connection);
}

void uw_connection_close(struct uw_connection *connection)
{
    bool was_open = uw_connection_is_open(connection);

    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (uw_connection_is_closed(connection))
        return;
    if (response_in_progress(connection))
        uw_connection_arm_reset(connection);
    uw_connection_end_handshake(connection);
    connection->state = UW_CONNECTION_CLOSED;
    uw_timer_stop(&connection->server_context->loop, &connection->timer);
    uw_list_remove(&connection->work);
    uw_connection_end_idle(connection);
    connection->taken =
        connection->endpoint.sending ? connection->endpoint.transport->progress(&connection->endpoint) : 0;
    connection->unsent_bytes += connection->outgoing.bytes - connection->taken;
    if (!connection->endpoint.sending)
        uw_send_queue_drop(&connection->outgoing);
    connection->endpoint.transport->close(&connection->endpoint);
    if (was_open)
        connection->protocol->closed(connection);
    uw_connection_reap(connection);
}

void uw_connection_disconnect(struct uw_request *request)
{
    uw_connection_close(request->stream->connection);
}

void uw_connection_close_graceful(struct uw_connection *connection)
{
    if (!response_in_progress(connection))
        (void)connection->endpoint.transport->shut(&connection->endpoint); /* fails when the client has gone */
    uw_connection_close(connection);
}

int uw_connection_detach_fd(struct uw_connection *connection)
{
    struct uw_loop *loop = &connection->server_context->loop;
    int fd = connection->endpoint.fd;

    UW_ASSERT_OWNER(loop);
    assert(connection->endpoint.transport->hands_out_descriptor && !connection->receiving);
    assert(!connection->endpoint.sending && uw_connection_is_flushed(connection));
    if (loop->backend->forget)
        loop->backend->forget(loop, fd);
    uw_connection_disarm_reset(connection);
    connection->state = UW_CONNECTION_CLOSED;
    uw_timer_stop(loop, &connection->timer);
    uw_list_remove(&connection->work);
    connection->endpoint.transport->close(&connection->endpoint);
    connection->endpoint.fd = -1;
    return fd;
}

void uw_connection_end(struct uw_connection *connection)
{
    static const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    int fd = connection->endpoint.fd;

    if (fd < 0)
        return;
    if (!uw_connection_is_closed(connection) && response_in_progress(connection))
        uw_connection_arm_reset(connection);
    if (!connection->reset_armed || connect(fd, &nobody, sizeof nobody)) /* which resets it */
        (void)shutdown(fd, SHUT_RDWR);
}

/* The memory is freed later, since a caller further up may still use the connection. */
void uw_connection_reap(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (uw_connection_is_closed(connection) && connection->endpoint.settled && uw_list_empty(&connection->work))
        uw_list_append(&connection->server_context->dead, &connection->work);
}

static void close_descriptor(struct uw_connection *connection)
{
    if (connection->endpoint.fd < 0)
        return;
    uw_connection_end(connection);
    (void)uw_close(&connection->server_context->loop, connection->endpoint.fd); /* a failure has no remedy */
    connection->endpoint.fd = -1;
}

void uw_connection_free(struct uw_connection *connection)
{
    struct uw_server_context *server_context = connection->server_context;

    UW_ASSERT_OWNER(&server_context->loop);
    if (connection->yielding)
        server_context->yielding--;
    connection->yielding = false;
    uw_send_queue_take(&connection->outgoing, connection->taken);
    uw_send_queue_drop(&connection->outgoing);
    close_descriptor(connection);
    if (connection->protocol->released(connection)) {
        connection->endpoint.transport->release(&connection->endpoint);
        uw_list_remove(&connection->link);
        uw_slab_free(&server_context->connections, connection);
    }
    server_context->ended(server_context);
}

void uw_connection_discard(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->server_context->loop);
    uw_send_queue_drop(&connection->outgoing);
    connection->protocol->discarded(connection);
    connection->endpoint.transport->release(&connection->endpoint);
    if (connection->endpoint.fd >= 0)
        close(connection->endpoint.fd);
}
