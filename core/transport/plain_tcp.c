/* The plain transport submits the loop's operations on the descriptor directly. */
#include <errno.h>
#include <sys/socket.h>

#include "transport/chunk_send.h"

static void settle_when_idle(struct uw_endpoint *endpoint)
{
    if (endpoint->settled || endpoint->receive.pending || endpoint->send.pending)
        return;
    endpoint->settled = true;
    endpoint->owner->settled(endpoint);
}

static void handle_received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, receive);

    (void)loop;
    if (endpoint->closed)
        settle_when_idle(endpoint);
    else if (result > 0)
        endpoint->owner->received(endpoint, operation->data, (size_t)result);
    else
        endpoint->owner->receive_ended(endpoint, result);
}

/* After a part of the bytes, an error counts as this part. The next send gets the error again. */
static int32_t count_sent(const struct uw_operation *operation, int32_t result)
{
    return result < 0 && operation->done > 0 ? (int32_t)operation->done : result;
}

static void handle_sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);

    (void)loop;
    endpoint->sending = false;
    if (endpoint->closed)
        settle_when_idle(endpoint);
    else
        endpoint->owner->sent(endpoint, count_sent(operation, result));
}

static int open_endpoint(struct uw_endpoint *endpoint)
{
    endpoint->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = endpoint->fd, .complete = handle_received};
    endpoint->owner->ready(endpoint);
    return 0;
}

static void start_receiving(struct uw_endpoint *endpoint)
{
    uw_submit(endpoint->loop, &endpoint->receive);
}

/* A paused client sends more than the server can store. So its bytes are received with single-shot operations from now
 * on. A multishot operation might receive more bytes before it is cancelled. */
static void pause_receiving(struct uw_endpoint *endpoint)
{
    endpoint->receive.oneshot = true;
    uw_cancel(endpoint->loop, &endpoint->receive);
}

static void send_chunk(struct uw_endpoint *endpoint, struct uw_chunk *first)
{
    uw_chunk_prepare_send(endpoint, first);
    endpoint->send.complete = handle_sent;
    endpoint->sending = true;
    uw_submit(endpoint->loop, &endpoint->send);
}

static size_t send_progress(const struct uw_endpoint *endpoint)
{
    return endpoint->sending ? endpoint->send.done : 0;
}

static int shut_sending(struct uw_endpoint *endpoint)
{
    return shutdown(endpoint->fd, SHUT_WR) ? -errno : 0;
}

static void close_endpoint(struct uw_endpoint *endpoint)
{
    endpoint->closed = true;
    uw_cancel(endpoint->loop, &endpoint->receive);
    uw_cancel(endpoint->loop, &endpoint->send);
    settle_when_idle(endpoint);
}

static void release_endpoint(struct uw_endpoint *endpoint)
{
    (void)endpoint; /* nothing was allocated */
}

const struct uw_transport uw_transport_plain = {
    .name = "plain",
    .hands_out_descriptor = true,
    .open = open_endpoint,
    .receive = start_receiving,
    .pause = pause_receiving,
    .send = send_chunk,
    .progress = send_progress,
    .shut = shut_sending,
    .close = close_endpoint,
    .release = release_endpoint,
};
