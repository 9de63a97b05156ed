#include "server/socketpair_tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system.h"

static const struct uw_request_calls calls;

struct uw_tunnel {
    struct uw_connection *connection;
    struct uw_endpoint application; /* the server's end of the pair */
    struct uw_stream to_client, to_application;
    struct uw_send_queue outgoing; /* to the application */
    struct uw_request *request;    /* until the handler has finished it */
    bool application_paused;       /* the application writes more than the client receives */
    bool application_ended;        /* the application writes no more, but may still read */
    bool shut;                     /* the client has got the end of file */
    bool client_ended;
    bool counted; /* in server_context->tunnels, for which draining does not wait */
};

static struct uw_tunnel *tunnel_of(const struct uw_connection *connection)
{
    return *(struct uw_tunnel **)uw_connection_state(connection);
}

static struct uw_tunnel *relay_at(struct uw_endpoint *endpoint)
{
    return uw_container_of(endpoint, struct uw_tunnel, application);
}

/* The handler may still be writing. */
static void count_in(struct uw_tunnel *tunnel, bool counted)
{
    counted &= !tunnel->request;
    if (counted != tunnel->counted)
        tunnel->connection->server_context->tunnels += counted ? 1 : (size_t)-1;
    tunnel->counted = counted;
}

static void receive_from_application(struct uw_tunnel *tunnel)
{
    tunnel->application_paused = false;
    tunnel->application.transport->receive(&tunnel->application);
}

/* Whether all descriptors of the other end are closed. shutdown(SHUT_WR) alone raises no POLLHUP. */
static bool application_is_gone(const struct uw_tunnel *tunnel)
{
    return uw_hung_up(tunnel->application.fd);
}

/* The application has written its last byte. The client gets the end of file after all data. It may continue to write
 * while the application reads, which a timer checks. */
static void end_of_application(struct uw_tunnel *tunnel)
{
    struct uw_connection *connection = tunnel->connection;

    if (!tunnel->application_ended || !uw_connection_is_flushed(connection))
        return;
    if (!tunnel->shut && connection->endpoint.transport->shut(&connection->endpoint)) {
        uw_connection_close(connection);
        return;
    }
    tunnel->shut = true;
    if (tunnel->client_ended && !connection->endpoint.send.pending)
        uw_connection_close(connection);
    else
        uw_connection_await_read(connection, connection->server_context->loop.now_ns + UW_LINGER_NS);
}

static void flush_to_application(struct uw_tunnel *tunnel)
{
    if (tunnel->application.sending || tunnel->application.closed)
        return;
    if (tunnel->outgoing.first)
        tunnel->application.transport->send(&tunnel->application, tunnel->outgoing.first);
    else if (tunnel->client_ended)
        (void)tunnel->application.transport->shut(&tunnel->application); /* fails when it is gone, which is seen */
}

static void application_received(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tunnel *tunnel = relay_at(endpoint);
    struct uw_chunk *chunk = uw_chunk_copy(bytes, length);

    if (!chunk) {
        uw_connection_reset(tunnel->connection);
        return;
    }
    uw_connection_enqueue(tunnel->connection, &tunnel->to_client, chunk);
    if (!tunnel->application_paused && atomic_load(&tunnel->to_client.outgoing_bytes) > UW_OUTGOING_HIGH_BYTES) {
        tunnel->application_paused = true;
        endpoint->transport->pause(endpoint);
    }
}

static void application_receive_ended(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_tunnel *tunnel = relay_at(endpoint);

    if (result == -ECANCELED) {
        tunnel->application_paused = true;
        if (atomic_load(&tunnel->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
            receive_from_application(tunnel);
        return;
    }
    tunnel->application_ended = true;
    count_in(tunnel, false); /* the application's last output has yet to be sent */
    end_of_application(tunnel);
}

static void application_sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct uw_tunnel *tunnel = relay_at(endpoint);

    if (count <= 0) { /* the application has closed its end: its earlier output is still sent */
        uw_send_queue_drop(&tunnel->outgoing);
    } else {
        uw_send_queue_take(&tunnel->outgoing, (size_t)count);
        flush_to_application(tunnel);
    }
    if (atomic_load(&tunnel->to_application.outgoing_bytes) < UW_TUNNEL_BYTES_MAX)
        uw_connection_resume(tunnel->connection);
}

static void application_settled(struct uw_endpoint *endpoint)
{
    uw_connection_reap(relay_at(endpoint)->connection);
}

static void application_ready(struct uw_endpoint *endpoint)
{
    endpoint->transport->receive(endpoint);
}

static const struct uw_endpoint_owner application_owner = {
    .ready = application_ready,
    .received = application_received,
    .receive_ended = application_receive_ended,
    .sent = application_sent,
    .settled = application_settled,
};

struct uw_tunnel *uw_tunnel_new(struct uw_connection *connection, int *fd)
{
    struct uw_tunnel *tunnel = calloc(1, sizeof *tunnel);
    int pair[2];

    if (!tunnel || uw_socket_pair(pair)) {
        free(tunnel);
        return NULL;
    }
    tunnel->connection = connection;
    tunnel->to_client.connection = tunnel->to_application.connection = connection;
    tunnel->application = (struct uw_endpoint){.transport = &uw_transport_plain,
                                               .owner = &application_owner,
                                               .loop = &connection->server_context->loop,
                                               .fd = pair[0]};
    *fd = pair[1];
    return tunnel;
}

void uw_tunnel_begin(struct uw_tunnel *tunnel, struct uw_request *request)
{
    struct uw_connection *connection = tunnel->connection;

    tunnel->request = request;
    request->stream = &tunnel->to_client;
    request->calls = &calls;
    uw_connection_switch(connection, &uw_protocol_tunnel);
    *(struct uw_tunnel **)uw_connection_state(connection) = tunnel;
    tunnel->client_ended = connection->input_ended;
    uw_connection_await_read(connection, UW_FOREVER);
    (void)tunnel->application.transport->open(&tunnel->application); /* plain needs nothing */
    if (tunnel->client_ended)
        flush_to_application(tunnel); /* no later event reports the end of file */
    else
        uw_connection_resume(connection);
}

static void opened(struct uw_connection *connection)
{
    (void)connection; /* uw_tunnel_begin has more to say */
}

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);
    struct uw_chunk *chunk = uw_chunk_copy(bytes, length);

    if (!chunk) {
        uw_connection_close(connection);
        return;
    }
    chunk->stream = &tunnel->to_application;
    atomic_fetch_add(&tunnel->to_application.outgoing_bytes, length);
    uw_send_queue_append(&tunnel->outgoing, chunk, tunnel->application.sending);
    flush_to_application(tunnel);
    if (!connection->paused && atomic_load(&tunnel->to_application.outgoing_bytes) >= UW_TUNNEL_BYTES_MAX)
        uw_connection_pause(connection);
}

static void receive_ended(struct uw_connection *connection, int32_t result)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (result == -ECANCELED) {
        if (atomic_load(&tunnel->to_application.outgoing_bytes) < UW_TUNNEL_BYTES_MAX)
            uw_connection_resume(connection);
    } else if (result) {
        uw_connection_close(connection);
    } else {
        tunnel->client_ended = true;
        flush_to_application(tunnel);
        end_of_application(tunnel);
    }
}

static void sent(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->application_paused && !tunnel->application.receive.pending && !tunnel->application_ended &&
        atomic_load(&tunnel->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
        receive_from_application(tunnel);
    end_of_application(tunnel);
}

static void resume(struct uw_connection *connection)
{
    (void)connection; /* nothing is put off */
}

/* After the application has written its last byte. */
static void timed_out(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (application_is_gone(tunnel) || tunnel->client_ended) {
        uw_connection_close(connection);
        return;
    }
    count_in(tunnel, true); /* it reads on for as long as it likes */
    end_of_application(tunnel);
}

/* The connection belongs to the application, as a detached descriptor would. But draining waits for the last output of
 * an application that has closed its end. */
static void drain(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (application_is_gone(tunnel))
        count_in(tunnel, false);
}

/* An abrupt end concerns the application, not the server's responses. */
static bool response_in_progress(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}

static void closed(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    tunnel->application_ended = true;
    tunnel->application.transport->close(&tunnel->application);
}

static void end_pair(struct uw_tunnel *tunnel)
{
    count_in(tunnel, false);
    uw_send_queue_drop(&tunnel->outgoing);
    (void)close(tunnel->application.fd);
    free(tunnel);
}

static bool released(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->request || !tunnel->application.settled)
        return false;
    end_pair(tunnel);
    return true;
}

static void discarded(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->request)
        uw_request_free(tunnel->request);
    end_pair(tunnel);
}

/* The handler says nothing more by the request, only that it has finished with it. */
static void take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_tunnel *tunnel = tunnel_of(request->stream->connection);
    bool finishes = chunk->flags & UW_CHUNK_FINISH;

    uw_send_queue_refuse(chunk);
    if (!finishes)
        return;
    tunnel->request = NULL;
    uw_request_free(request);
    count_in(tunnel, !tunnel->application_ended && !application_is_gone(tunnel));
    uw_connection_reap(tunnel->connection);
}

static void abort_request(struct uw_request *request)
{
    struct uw_tunnel *tunnel = tunnel_of(request->stream->connection);

    tunnel->request = NULL;
    uw_request_free(request);
    uw_connection_reset(tunnel->connection);
}

static void detach(struct uw_request *request, struct uw_detached *detached)
{
    (void)request;
    detached->done(detached); /* it has been, already */
}

const struct uw_protocol uw_protocol_tunnel = {
    .name = "relay",
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

static const struct uw_request_calls calls = {
    .outgoing = uw_connection_outgoing,
    .disconnect = uw_connection_disconnect,
    .take_over = take_over,
    .abort = abort_request,
    .detach = detach,
};
