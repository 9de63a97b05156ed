#include "http1/http1_detach.h"

#include <poll.h>

#include "server/socketpair_tunnel.h"

/* Returns the struct for a call of its `done`, after which it belongs to the handler again. */
static struct uw_detached *take(struct uw_http1 *http1, int fd)
{
    struct uw_detached *detached = http1->detached;

    http1->detached = NULL;
    detached->fd = fd;
    if (fd >= 0 && http1->pending.length)
        detached->bytes = uw_pipelined_input_give(&http1->pending, &detached->length);
    return detached;
}

static void answer(struct uw_http1 *http1, int fd)
{
    struct uw_detached *detached = take(http1, fd);

    detached->done(detached);
}

void uw_http1_refuse_detaching(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    http1->state = UW_HTTP1_ANSWERING;
    answer(http1, -1);
}

/* The request still needs a response, and the handler has its time for this as before. */
static void stay(struct uw_connection *connection)
{
    uw_connection_await_read(connection, UW_FOREVER);
    uw_http1_refuse_detaching(connection);
}

static void await_taking(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    http1->detached->outgoing = uw_request_outgoing(http1->reader.request);
    uw_connection_await_read(connection, connection->server_context->loop.now_ns + UW_DETACH_STALL_NS);
}

static void await_room(struct uw_connection *connection)
{
    uw_connection_await_read(connection, connection->server_context->loop.now_ns + UW_DETACH_RETRY_NS);
}

/* The earlier responses are still in the kernel. If the client does not read them, the head would be sent in part. */
static bool has_room(const struct uw_connection *connection)
{
    struct pollfd item = {.fd = connection->endpoint.fd, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* the send reports a failure */
}

static void send_head(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_detached *detached = http1->detached;

    uw_connection_enqueue(connection, &http1->stream, detached->head);
    detached->head = NULL;
    detached->head_begun = true;
    detached->looks_left = UW_DETACH_LOOKS;
    await_taking(connection);
    uw_connection_flush(connection);
}

/* The tunnel replaces this protocol and its state before the handler gets the descriptor. From then on, any thread of
 * the handler may finish the request. */
static void hand_over_by_relay(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_request *request = http1->reader.request;
    int fd = -1;
    struct uw_tunnel *relay = uw_tunnel_new(connection, &fd);
    struct uw_detached *detached;

    if (!relay) {
        uw_connection_schedule_resume(connection); /* call this before `done`, which may end the connection */
        stay(connection);
        return;
    }
    uw_request_report(request);
    detached = take(http1, fd);
    uw_pipelined_input_free(&http1->pending);
    uw_tunnel_begin(relay, request);
    detached->done(detached);
}

static void hand_over(struct uw_connection *connection)
{
    if (!connection->endpoint.transport->hands_out_descriptor) {
        hand_over_by_relay(connection);
        return;
    }
    uw_request_report(uw_http1_of(connection)->reader.request);
    answer(uw_http1_of(connection), uw_connection_detach_fd(connection));
}

void uw_http1_try_detach(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    UW_ASSERT_OWNER(&connection->server_context->loop);
    if (http1->state != UW_HTTP1_DETACHING || connection->receiving || !uw_connection_is_flushed(connection))
        return;
    if (!http1->detached->head)
        hand_over(connection);
    else if (has_room(connection))
        send_head(connection);
    else
        await_room(connection);
}

void uw_http1_detach(struct uw_connection *connection, struct uw_detached *detached)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    if (!uw_connection_is_open(connection) || http1->state != UW_HTTP1_ANSWERING) {
        detached->done(detached);
        return;
    }
    http1->state = UW_HTTP1_DETACHING;
    http1->detached = detached;
    detached->looks_left = UW_DETACH_LOOKS;
    await_taking(connection);
    uw_connection_pause(connection);
    uw_connection_flush(connection);
    uw_http1_try_detach(connection);
}

static bool look_at_taking(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_detached *detached = http1->detached;
    bool takes = uw_request_outgoing(http1->reader.request) < detached->outgoing;

    if (takes && --detached->looks_left > 0) {
        await_taking(connection);
        return false;
    }
    if (!detached->head_begun)
        return true;
    uw_connection_close(connection); /* a partly sent head cannot be withdrawn */
    return false;
}

static bool look_for_room(struct uw_connection *connection)
{
    if (--uw_http1_of(connection)->detached->looks_left == 0)
        return true;
    await_room(connection);
    uw_http1_try_detach(connection);
    return false;
}

bool uw_http1_look_after_detaching(struct uw_connection *connection)
{
    const struct uw_detached *detached = uw_http1_of(connection)->detached;
    bool given_up = false;

    if (!uw_connection_is_flushed(connection))
        given_up = look_at_taking(connection);
    else if (detached->head)
        given_up = look_for_room(connection);
    /* otherwise only the kernel has to end the receive */
    if (given_up)
        stay(connection);
    return given_up;
}
