#include "server/relay.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system.h"

struct uw_relay {
    struct uw_connection *connection;
    struct uw_endpoint application; /* the server's end of the pair */
    struct uw_stream to_client, to_application;
    struct uw_outgoing outgoing; /* to the application */
    struct uw_request *request;  /* until the handler has finished it */
    bool application_paused;     /* it writes more than the client takes */
    bool application_ended;      /* it writes no more; perhaps it still reads */
    bool shut;                   /* the client has been told so */
    bool client_ended;
    bool counted; /* among the service's relays, for which nobody waits */
};

static struct uw_relay *relay_of(const struct uw_connection *connection)
{
    return *(struct uw_relay **)uw_connection_state(connection);
}

static struct uw_relay *relay_at(struct uw_endpoint *endpoint)
{
    return uw_owner(endpoint, struct uw_relay, application);
}

/* The handler may still be writing. */
static void count_in(struct uw_relay *relay, bool counted)
{
    counted &= !relay->request;
    if (counted != relay->counted)
        relay->connection->service->relays += counted ? 1 : (size_t)-1;
    relay->counted = counted;
}

static void receive_from_application(struct uw_relay *relay)
{
    relay->application_paused = false;
    relay->application.transport->receive(&relay->application);
}

/* Nobody has the other end any more; a side that is merely shut down for writing does not hang up. */
static bool application_is_gone(const struct uw_relay *relay)
{
    return uw_hung_up(relay->application.fd);
}

/* The application has written its last byte. Once the client has all of it, he is told so; he may go on writing to an
 * application that still reads, which is looked after now and then. */
static void end_of_application(struct uw_relay *relay)
{
    struct uw_connection *connection = relay->connection;

    if (!relay->application_ended || !uw_connection_is_flushed(connection))
        return;
    if (!relay->shut && connection->endpoint.transport->shut(&connection->endpoint)) {
        uw_connection_close(connection);
        return;
    }
    relay->shut = true;
    if (relay->client_ended && !connection->endpoint.send.pending)
        uw_connection_close(connection);
    else
        uw_connection_await_read(connection, connection->service->loop.now_ns + UW_LINGER_NS);
}

static void flush_to_application(struct uw_relay *relay)
{
    if (relay->application.sending || relay->application.closed)
        return;
    if (relay->outgoing.first)
        relay->application.transport->send(&relay->application, relay->outgoing.first);
    else if (relay->client_ended)
        (void)relay->application.transport->shut(&relay->application); /* fails when it is gone, which is seen */
}

static void application_received(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_relay *relay = relay_at(endpoint);
    struct uw_chunk *chunk = uw_chunk_copy(bytes, length);

    if (!chunk) {
        uw_connection_cut(relay->connection);
        return;
    }
    uw_connection_enqueue(relay->connection, &relay->to_client, chunk);
    if (!relay->application_paused && atomic_load(&relay->to_client.outgoing_bytes) > UW_OUTGOING_HIGH_BYTES) {
        relay->application_paused = true;
        endpoint->transport->pause(endpoint);
    }
}

static void application_receive_ended(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_relay *relay = relay_at(endpoint);

    if (result == -ECANCELED) {
        relay->application_paused = true;
        if (atomic_load(&relay->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
            receive_from_application(relay);
        return;
    }
    relay->application_ended = true;
    count_in(relay, false); /* what it has written last is still to leave */
    end_of_application(relay);
}

static void application_sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct uw_relay *relay = relay_at(endpoint);

    if (count <= 0) { /* it has closed its end: what it has written before still goes out */
        uw_outgoing_drop(&relay->outgoing);
    } else {
        uw_outgoing_take(&relay->outgoing, (size_t)count);
        flush_to_application(relay);
    }
    if (atomic_load(&relay->to_application.outgoing_bytes) < UW_RELAY_BYTES_MAX)
        uw_connection_resume(relay->connection);
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

struct uw_relay *uw_relay_new(struct uw_connection *connection, int *fd)
{
    struct uw_relay *relay = calloc(1, sizeof *relay);
    int pair[2];

    if (!relay || uw_socket_pair(pair)) {
        free(relay);
        return NULL;
    }
    relay->connection = connection;
    relay->to_client.connection = relay->to_application.connection = connection;
    relay->application = (struct uw_endpoint){.transport = &uw_transport_plain,
                                              .owner = &application_owner,
                                              .loop = &connection->service->loop,
                                              .fd = pair[0]};
    *fd = pair[1];
    return relay;
}

void uw_relay_begin(struct uw_relay *relay, struct uw_request *request)
{
    struct uw_connection *connection = relay->connection;

    relay->request = request;
    request->stream = &relay->to_client;
    request->protocol = &uw_protocol_relay;
    uw_connection_switch(connection, &uw_protocol_relay);
    *(struct uw_relay **)uw_connection_state(connection) = relay;
    relay->client_ended = connection->input_ended;
    uw_connection_await_read(connection, UW_FOREVER);
    (void)relay->application.transport->open(&relay->application); /* plain needs nothing */
    if (relay->client_ended)
        flush_to_application(relay); /* nobody tells of the end again */
    else
        uw_connection_resume(connection);
}

static void opened(struct uw_connection *connection)
{
    (void)connection; /* uw_relay_begin has more to say */
}

static void received(struct uw_connection *connection, const char *bytes, size_t length)
{
    struct uw_relay *relay = relay_of(connection);
    struct uw_chunk *chunk = uw_chunk_copy(bytes, length);

    if (!chunk) {
        uw_connection_close(connection);
        return;
    }
    chunk->stream = &relay->to_application;
    atomic_fetch_add(&relay->to_application.outgoing_bytes, length);
    uw_outgoing_append(&relay->outgoing, chunk, relay->application.sending);
    flush_to_application(relay);
    if (!connection->paused && atomic_load(&relay->to_application.outgoing_bytes) >= UW_RELAY_BYTES_MAX)
        uw_connection_pause(connection);
}

static void receive_ended(struct uw_connection *connection, int32_t result)
{
    struct uw_relay *relay = relay_of(connection);

    if (result == -ECANCELED) {
        if (atomic_load(&relay->to_application.outgoing_bytes) < UW_RELAY_BYTES_MAX)
            uw_connection_resume(connection);
    } else if (result) {
        uw_connection_close(connection);
    } else {
        relay->client_ended = true;
        flush_to_application(relay);
        end_of_application(relay);
    }
}

static void sent(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    if (relay->application_paused && !relay->application.receive.pending && !relay->application_ended &&
        atomic_load(&relay->to_client.outgoing_bytes) <= UW_OUTGOING_LOW_BYTES)
        receive_from_application(relay);
    end_of_application(relay);
}

static void go_on(struct uw_connection *connection)
{
    (void)connection; /* nothing is put off */
}

/* After the application has written its last byte. */
static void timed_out(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    if (application_is_gone(relay) || relay->client_ended) {
        uw_connection_close(connection);
        return;
    }
    count_in(relay, true); /* it reads on for as long as it likes */
    end_of_application(relay);
}

/* It is the application's, as one is whose descriptor it has; but what that has left behind is still to leave. */
static void drain(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    if (application_is_gone(relay))
        count_in(relay, false);
}

/* What the application makes of its end is its own affair. */
static bool is_answering(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}

static void closed(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    relay->application_ended = true;
    relay->application.transport->close(&relay->application);
}

static void end_pair(struct uw_relay *relay)
{
    count_in(relay, false);
    uw_outgoing_drop(&relay->outgoing);
    (void)close(relay->application.fd);
    free(relay);
}

static bool released(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    if (relay->request || !relay->application.settled)
        return false;
    end_pair(relay);
    return true;
}

static void discarded(struct uw_connection *connection)
{
    struct uw_relay *relay = relay_of(connection);

    if (relay->request)
        uw_request_free(relay->request);
    end_pair(relay);
}

/* The handler says nothing more by the request, only that it has finished with it. */
static void take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_relay *relay = relay_of(request->stream->connection);
    bool finishes = chunk->flags & UW_CHUNK_FINISH;

    uw_outgoing_refuse(chunk);
    if (!finishes)
        return;
    relay->request = NULL;
    uw_request_free(request);
    count_in(relay, !relay->application_ended && !application_is_gone(relay));
    uw_connection_reap(relay->connection);
}

static void abort_request(struct uw_request *request)
{
    struct uw_relay *relay = relay_of(request->stream->connection);

    relay->request = NULL;
    uw_request_free(request);
    uw_connection_cut(relay->connection);
}

static void detach(struct uw_request *request, struct uw_detached *detached)
{
    (void)request;
    detached->done(detached); /* it has been, already */
}

const struct uw_protocol uw_protocol_relay = {
    .name = "relay",
    .opened = opened,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .go_on = go_on,
    .timed_out = timed_out,
    .drain = drain,
    .is_answering = is_answering,
    .closed = closed,
    .released = released,
    .discarded = discarded,
    .take_over = take_over,
    .abort = abort_request,
    .detach = detach,
};
