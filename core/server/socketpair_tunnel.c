#include "server/socketpair_tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system.h"

static const struct uw_request_calls calls;

struct uw_tunnel {
    struct uw_connection *connection;
    struct uw_endpoint application; /* the server's end of the socket pair */
    struct uw_stream to_client, to_application;
    struct uw_send_queue outgoing; /* chunks for the application */
    struct uw_request *request;    /* NULL once the handler has finished the request */
    bool application_paused;       /* reading is paused, because the client receives too slowly */
    bool application_ended;        /* the application has shut down writing, but may still read */
    bool shut;                     /* the end of file has been sent to the client */
    bool client_ended;
    bool counted; /* counted in server_context->tunnels, for which draining does not wait */
};

static struct uw_tunnel *tunnel_of(const struct uw_connection *connection)
{
    return *(struct uw_tunnel **)uw_connection_state(connection);
}

static struct uw_tunnel *tunnel_of_endpoint(struct uw_endpoint *endpoint)
{
    return uw_container_of(endpoint, struct uw_tunnel, application);
}

/* Draining always waits for a tunnel with an unfinished request, because the handler may still write. */
static void set_counted(struct uw_tunnel *tunnel, bool counted)
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

/* Returns true if all descriptors of the application's end are closed. shutdown(SHUT_WR) alone does not count. */
static bool application_has_closed(const struct uw_tunnel *tunnel)
{
    return uw_hung_up(tunnel->application.fd);
}

/* Forwards the application's end of file to the client, after all data. The client may continue to write while the
 * application reads. A timer checks whether the application still reads. */
static void forward_end_of_file(struct uw_tunnel *tunnel)
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

static void send_to_application(struct uw_tunnel *tunnel)
{
    if (tunnel->application.sending || tunnel->application.closed)
        return;
    if (tunnel->outgoing.first)
        tunnel->application.transport->send(&tunnel->application, tunnel->outgoing.first);
    else if (tunnel->client_ended)
        (void)tunnel->application.transport->shut(&tunnel->application); /* fails if the application has closed */
}

static void application_received(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tunnel *tunnel = tunnel_of_endpoint(endpoint);
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
    struct uw_tunnel *tunnel = tunnel_of_endpoint(endpoint);

    if (result == -ECANCELED) {
        tunnel->application_paused = true;
        if (atomic_load(&tunnel->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
            receive_from_application(tunnel);
        return;
    }
    tunnel->application_ended = true;
    set_counted(tunnel, false); /* draining must wait for the application's last output */
    forward_end_of_file(tunnel);
}

static void application_sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct uw_tunnel *tunnel = tunnel_of_endpoint(endpoint);

    if (count <= 0) { /* the application has closed its end. Its earlier output is still sent */
        uw_send_queue_drop(&tunnel->outgoing);
    } else {
        uw_send_queue_take(&tunnel->outgoing, (size_t)count);
        send_to_application(tunnel);
    }
    if (atomic_load(&tunnel->to_application.outgoing_bytes) < UW_TUNNEL_BYTES_MAX)
        uw_connection_resume(tunnel->connection);
}

static void application_settled(struct uw_endpoint *endpoint)
{
    uw_connection_reap(tunnel_of_endpoint(endpoint)->connection);
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
    (void)tunnel->application.transport->open(&tunnel->application); /* cannot fail for uw_transport_plain */
    if (tunnel->client_ended)
        send_to_application(tunnel); /* no later event reports the client's end of file */
    else
        uw_connection_resume(connection);
}

static void client_opened(struct uw_connection *connection)
{
    (void)connection; /* uw_tunnel_begin does the work, because it also needs the request */
}

static void client_received(struct uw_connection *connection, const char *bytes, size_t length)
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
    send_to_application(tunnel);
    if (!connection->paused && atomic_load(&tunnel->to_application.outgoing_bytes) >= UW_TUNNEL_BYTES_MAX)
        uw_connection_pause(connection);
}

static void client_receive_ended(struct uw_connection *connection, int32_t result)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (result == -ECANCELED) {
        if (atomic_load(&tunnel->to_application.outgoing_bytes) < UW_TUNNEL_BYTES_MAX)
            uw_connection_resume(connection);
    } else if (result) {
        uw_connection_close(connection);
    } else {
        tunnel->client_ended = true;
        send_to_application(tunnel);
        forward_end_of_file(tunnel);
    }
}

static void client_sent(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->application_paused && !tunnel->application.receive.pending && !tunnel->application_ended &&
        atomic_load(&tunnel->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
        receive_from_application(tunnel);
    forward_end_of_file(tunnel);
}

static void resume_client(struct uw_connection *connection)
{
    (void)connection; /* no received bytes are waiting */
}

/* Runs after the application's end of file, while the client may still write. */
static void client_timed_out(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (application_has_closed(tunnel) || tunnel->client_ended) {
        uw_connection_close(connection);
        return;
    }
    set_counted(tunnel, true); /* the application may read without a time limit */
    forward_end_of_file(tunnel);
}

/* Draining does not wait for the application, as for a detached descriptor. But it waits for the last output of an
 * application that has closed its end. */
static void drain_tunnel(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (application_has_closed(tunnel))
        set_counted(tunnel, false);
}

/* An abrupt end concerns the application, not a response of the server. */
static bool response_in_progress(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}

static void client_closed(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    tunnel->application_ended = true;
    tunnel->application.transport->close(&tunnel->application);
}

static void free_tunnel(struct uw_tunnel *tunnel)
{
    set_counted(tunnel, false);
    uw_send_queue_drop(&tunnel->outgoing);
    (void)close(tunnel->application.fd);
    free(tunnel);
}

static bool client_released(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->request || !tunnel->application.settled)
        return false;
    free_tunnel(tunnel);
    return true;
}

static void client_discarded(struct uw_connection *connection)
{
    struct uw_tunnel *tunnel = tunnel_of(connection);

    if (tunnel->request)
        uw_request_free(tunnel->request);
    free_tunnel(tunnel);
}

/* The only remaining use of the request: the handler reports that it has finished. */
static void take_over_chunk(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_tunnel *tunnel = tunnel_of(request->stream->connection);
    bool finishes = chunk->flags & UW_CHUNK_FINISH;

    uw_send_queue_refuse(chunk);
    if (!finishes)
        return;
    tunnel->request = NULL;
    uw_request_free(request);
    set_counted(tunnel, !tunnel->application_ended && !application_has_closed(tunnel));
    uw_connection_reap(tunnel->connection);
}

static void abort_request(struct uw_request *request)
{
    struct uw_tunnel *tunnel = tunnel_of(request->stream->connection);

    tunnel->request = NULL;
    uw_request_free(request);
    uw_connection_reset(tunnel->connection);
}

static void detach_request(struct uw_request *request, struct uw_detached *detached)
{
    (void)request;
    detached->done(detached); /* already detached */
}

const struct uw_protocol uw_protocol_tunnel = {
    .name = "relay",
    .opened = client_opened,
    .received = client_received,
    .receive_ended = client_receive_ended,
    .sent = client_sent,
    .resume = resume_client,
    .timed_out = client_timed_out,
    .drain = drain_tunnel,
    .response_in_progress = response_in_progress,
    .closed = client_closed,
    .released = client_released,
    .discarded = client_discarded,
};

static const struct uw_request_calls calls = {
    .outgoing = uw_connection_outgoing,
    .disconnect = uw_connection_disconnect,
    .take_over = take_over_chunk,
    .abort = abort_request,
    .detach = detach_request,
};
