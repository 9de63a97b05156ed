/* How a connection ends: in an orderly way, or so that the client sees that an answer is not complete. */
#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/backend.h"
#include "server/connection.h"

void uw_connection_endanger(struct uw_connection *connection)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    if (!connection->endangered)
        (void)setsockopt(connection->endpoint.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    connection->endangered = true;
}

void uw_connection_out_of_danger(struct uw_connection *connection)
{
    static const struct linger in_order = {.l_onoff = 0};

    if (connection->endangered)
        (void)setsockopt(connection->endpoint.fd, SOL_SOCKET, SO_LINGER, &in_order, sizeof in_order);
    connection->endangered = false;
}

void uw_connection_end_handshake(struct uw_connection *connection)
{
    if (connection->state != UW_CONNECTION_HANDSHAKE || uw_list_empty(&connection->work))
        return;
    uw_list_remove(&connection->work);
    connection->service->handshakes--;
}

/* The client shall not take half an answer for the whole. */
static bool is_answering(const struct uw_connection *connection)
{
    return connection->outgoing.first ||
           (connection->state == UW_CONNECTION_OPEN && connection->protocol->is_answering(connection));
}

void uw_connection_cut(struct uw_connection *connection)
{
    uw_connection_endanger(connection);
    uw_connection_close(connection);
}

void uw_connection_close(struct uw_connection *connection)
{
    bool was_open = uw_connection_is_open(connection);

    UW_ASSERT_OWNER(&connection->service->loop);
    if (uw_connection_is_closed(connection))
        return;
    if (is_answering(connection))
        uw_connection_endanger(connection);
    uw_connection_end_handshake(connection);
    connection->state = UW_CONNECTION_CLOSED;
    uw_timer_stop(&connection->service->loop, &connection->timer);
    uw_list_remove(&connection->work);
    if (!connection->endpoint.sending)
        uw_outgoing_drop(&connection->outgoing);
    connection->endpoint.transport->close(&connection->endpoint);
    if (was_open)
        connection->protocol->closed(connection);
    uw_connection_reap(connection);
}

void uw_connection_part(struct uw_connection *connection)
{
    if (!is_answering(connection))
        (void)connection->endpoint.transport->shut(&connection->endpoint); /* fails when the client has gone */
    uw_connection_close(connection);
}

int uw_connection_hand_out(struct uw_connection *connection)
{
    struct uw_loop *loop = &connection->service->loop;
    int fd = connection->endpoint.fd;

    UW_ASSERT_OWNER(loop);
    assert(connection->endpoint.transport->hands_out_descriptor && !connection->receiving);
    assert(!connection->endpoint.sending && uw_connection_is_flushed(connection));
    if (loop->backend->forget)
        loop->backend->forget(loop, fd);
    uw_connection_out_of_danger(connection);
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
    if (!uw_connection_is_closed(connection) && is_answering(connection))
        uw_connection_endanger(connection);
    if (!connection->endangered || connect(fd, &nobody, sizeof nobody)) /* which resets it */
        (void)shutdown(fd, SHUT_RDWR);
}

/* Not at once: a caller further up may still be using the connection. */
void uw_connection_reap(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    if (uw_connection_is_closed(connection) && connection->endpoint.settled && uw_list_empty(&connection->work))
        uw_list_append(&connection->service->dead, &connection->work);
}

static void close_descriptor(struct uw_connection *connection)
{
    if (connection->endpoint.fd < 0)
        return;
    uw_connection_end(connection);
    (void)uw_close(&connection->service->loop, connection->endpoint.fd); /* there is nothing to do about a failure */
    connection->endpoint.fd = -1;
}

void uw_connection_bury(struct uw_connection *connection)
{
    struct uw_service *service = connection->service;

    UW_ASSERT_OWNER(&service->loop);
    uw_outgoing_drop(&connection->outgoing);
    close_descriptor(connection);
    if (connection->protocol->released(connection)) {
        connection->endpoint.transport->release(&connection->endpoint);
        uw_list_remove(&connection->link);
        uw_slab_give(&service->connections, connection);
    }
    service->ended(service);
}

void uw_connection_discard(struct uw_connection *connection)
{
    UW_ASSERT_OWNER(&connection->service->loop);
    uw_outgoing_drop(&connection->outgoing);
    connection->protocol->discarded(connection);
    connection->endpoint.transport->release(&connection->endpoint);
    if (connection->endpoint.fd >= 0)
        close(connection->endpoint.fd);
}
