#include "http1/http1_detach.h"

#include <poll.h>

#include "server/relay.h"

/* Returns it for its `done` to be called, after which it is the handler's again. */
static struct uw_detached *take(struct uw_http1 *http1, int fd)
{
    struct uw_detached *detached = http1->detached;

    http1->detached = NULL;
    detached->fd = fd;
    if (fd >= 0 && http1->pending.length)
        detached->bytes = uw_pending_give(&http1->pending, &detached->length);
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

/* The request is still to be answered, for which the handler has its time, as before. */
static void stay(struct uw_connection *connection)
{
    uw_connection_await_read(connection, UW_FOREVER);
    uw_http1_refuse_detaching(connection);
}

static void await_taking(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    http1->detached->outgoing = uw_request_outgoing(http1->reader.request);
    uw_connection_await_read(connection, connection->service->loop.now_ns + UW_DETACH_STALL_NS);
}

static void await_room(struct uw_connection *connection)
{
    uw_connection_await_read(connection, connection->service->loop.now_ns + UW_DETACH_ROOM_NS);
}

/* The kernel holds the answers before: one who does not take these would leave the head half sent. */
static bool has_room(const struct uw_connection *connection)
{
    struct pollfd item = {.fd = connection->endpoint.fd, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* of a failure sending tells */
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

/* The relay takes the place of this protocol, whose state is gone after that, before the handler hears of it: from then
 * on it may finish the request, on whichever thread. */
static void hand_over_by_relay(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);
    struct uw_request *request = http1->reader.request;
    int fd = -1;
    struct uw_relay *relay = uw_relay_new(connection, &fd);
    struct uw_detached *detached;

    if (!relay) {
        uw_connection_go_on_later(connection); /* before the handler hears of it, who may end the connection */
        stay(connection);
        return;
    }
    detached = take(http1, fd);
    uw_pending_free(&http1->pending);
    uw_relay_begin(relay, request);
    detached->done(detached);
}

static void hand_over(struct uw_connection *connection)
{
    if (connection->endpoint.transport->hands_out_descriptor)
        answer(uw_http1_of(connection), uw_connection_hand_out(connection));
    else
        hand_over_by_relay(connection);
}

void uw_http1_try_detach(struct uw_connection *connection)
{
    struct uw_http1 *http1 = uw_http1_of(connection);

    UW_ASSERT_OWNER(&connection->service->loop);
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
    uw_connection_close(connection); /* half a head cannot be taken back */
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
    /* else it waits for nothing but the kernel, to end the receiving */
    if (given_up)
        stay(connection);
    return given_up;
}
