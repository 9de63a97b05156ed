/* TLS by OpenSSL, which sees neither the descriptor nor the loop: what the loop receives is fed to it, and what it
 * writes leaves by the loop's sends. One send is in the kernel at a time; what is written meanwhile follows it.
 *
 *     handshake   receiving since `open`, until the handshake is done: `ready`
 *     open        plaintext goes both ways
 *     ended       the client has said that nothing more comes (close_notify); sending goes on
 *     failed      the client gets an alert, and then the end of the stream; what he still sends is dropped, since a
 *                 connection closed over unread bytes is reset, and the alert lost
 *
 * The end of the stream without close_notify is told as the end where a record ends: HTTP and WebSocket delimit what a
 * client sends, and see for themselves when it is incomplete; and many clients leave that way. Within a record it is
 * told as -ECONNRESET. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/chunk_send.h"
#include "transport/tls_bio.h"
#include "transport/tls_peer.h"
#include "transport/tls_seal.h"

/* Of messages that a client may send after the handshake: key updates, and requests for the renegotiation that there is
 * none of. Each costs more than it does him. */
#define LATE_MESSAGES_MAX 32
#define LATE_MESSAGE_BYTES (1024 * 1024) /* and one more for so many bytes received */
#define UNSEEN_BYTES_MAX 16384           /* the kernel seals them, and has room for them when it has any */
#define DROPPED_BYTES_MAX (256 * 1024)   /* after a failure; then the connection ends without waiting for the client */

static const char plain_answer[] = "HTTP/1.1 400 Bad Request\r\n"
                                   "Content-Type: text/plain\r\n"
                                   "Content-Length: 48\r\n"
                                   "Connection: close\r\n"
                                   "\r\n"
                                   "This port speaks HTTPS, but the request is HTTP\n";

enum state { HANDSHAKE, OPEN, ENDED, FAILED };

struct uw_tls {
    SSL *ssl;
    struct uw_tls_context *context;
    struct uw_tls_carrier carrier;
    bool carries;   /* what is leaving has in it what the owner sends */
    int64_t taken;  /* of the chunks, by the owner's send; or why it fails */
    int32_t broken; /* the -errno with which the kernel took no more; or 0 */
    enum state state;
    int32_t end; /* what the end of receiving is told as, when FAILED */
    uint64_t received;
    uint64_t late_messages;
    uint64_t unseen; /* sent, since room for more was seen last; when the kernel seals */
    size_t dropped;
    bool begun; /* bytes have come */
    bool shut;  /* nothing more is to be sent, and then: it is the end of the stream for the client */
    bool shut_down;
    bool told; /* of the end, when FAILED */
    bool busy; /* within a call of the owner's functions, which may close the endpoint */
    struct uw_tls_peer peer;
};

static void left(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Those of the thread, which is not ours alone. Clearing goes through the whole queue, and there is hardly ever one. */
static void forget_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

static void settle(struct uw_endpoint *endpoint)
{
    if (endpoint->settled || (endpoint->tls && endpoint->tls->busy) || endpoint->receive.pending ||
        endpoint->send.pending)
        return;
    endpoint->settled = true;
    endpoint->owner->settled(endpoint);
}

static void fail(struct uw_tls *tls, int32_t end)
{
    tls->state = FAILED;
    tls->end = end;
}

static void drop_output(struct uw_tls *tls)
{
    if (tls->carrier.output)
        uw_tls_buffer_give(tls->carrier.buffers, tls->carrier.output);
    tls->carrier.output = NULL;
}

/* Returns whether something is in the kernel. */
static bool flush(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;
    struct uw_tls_buffer *output = tls->carrier.output;

    if (tls->broken)
        drop_output(tls);
    else if (output && !endpoint->send.pending) {
        tls->carrier.leaving = output;
        tls->carrier.output = NULL;
        tls->carries = endpoint->sending && tls->taken > 0;
        endpoint->send = (struct uw_operation){.verb = UW_SEND,
                                               .fd = endpoint->fd,
                                               .data = output->bytes,
                                               .length = (uint32_t)output->length,
                                               .complete = left};
        uw_submit(endpoint->loop, &endpoint->send);
    }
    return endpoint->send.pending;
}

static int shut_down(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->shut_down)
        return 0;
    tls->shut_down = true;
    return shutdown(endpoint->fd, SHUT_WR) ? -errno : 0;
}

/* After anything has happened: what there is to send is sent, and what has come to its end is told. */
static void go_on(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (endpoint->closed) {
        settle(endpoint);
        return;
    }
    if (tls->state == FAILED && tls->carrier.kernel_seals)
        uw_cancel(endpoint->loop, &endpoint->send); /* the alert has left already */
    if (flush(endpoint))
        return;
    if (tls->shut || tls->state == FAILED)
        (void)shut_down(endpoint); /* fails when the client has gone */
    if (tls->state == FAILED && !endpoint->receive.pending && !tls->told) {
        tls->told = true;
        endpoint->owner->receive_ended(endpoint, tls->end);
    }
}

static void tell_sent(struct uw_endpoint *endpoint, int64_t count)
{
    endpoint->sending = false;
    endpoint->tls->busy = true;
    endpoint->owner->sent(endpoint, count);
    endpoint->tls->busy = false;
}

/* A send has ended; or there was none, only news of one that has failed. */
static void left(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_owner(operation, struct uw_endpoint, send);
    struct uw_tls *tls = endpoint->tls;

    (void)loop;
    if (tls->carrier.leaving) {
        uw_tls_buffer_give(tls->carrier.buffers, tls->carrier.leaving);
        tls->broken = result < 0 ? result : 0;
    }
    tls->carrier.leaving = NULL;
    if (tls->broken && tls->state == HANDSHAKE) {
        fail(tls, tls->broken);
        uw_cancel(endpoint->loop, &endpoint->receive);
    }
    if (!endpoint->closed && endpoint->sending && (tls->carries || tls->broken || tls->taken <= 0))
        tell_sent(endpoint, tls->broken ? tls->broken : tls->taken);
    go_on(endpoint);
}

/* Further messages of the handshake protocol, in the midst of reading: too many end it. */
static void count_message(int written, int version, int type, const void *bytes, size_t length, SSL *ssl,
                          void *argument)
{
    struct uw_tls *tls = argument;

    (void)version;
    (void)bytes;
    (void)length;
    (void)ssl;
    if (written || type != SSL3_RT_HANDSHAKE)
        return;
    if (++tls->late_messages > LATE_MESSAGES_MAX + tls->received / LATE_MESSAGE_BYTES) {
        fail(tls, -EPROTO);
        tls->carrier.input_left = 0;
    }
}

static void become_open(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (!uw_tls_peer_note(&tls->peer, tls->context, tls->ssl)) {
        fail(tls, -ENOMEM);
        return;
    }
    tls->state = OPEN;
    SSL_set_msg_callback(tls->ssl, count_message);
    SSL_set_msg_callback_arg(tls->ssl, tls);
    endpoint->owner->ready(endpoint);
}

/* No record begins with a letter, and every request in plain HTTP does. */
static bool speaks_http(const struct uw_tls_carrier *carrier)
{
    return carrier->input[0] >= 'A' && carrier->input[0] <= 'Z';
}

static void refuse_plain(struct uw_tls *tls)
{
    /* Without memory for the answer, the end has to do. */
    (void)uw_tls_buffer_append(tls->carrier.buffers, &tls->carrier.output, plain_answer, sizeof plain_answer - 1);
    fail(tls, -EPROTO);
}

static void shake_hands(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;
    int result;

    if (!tls->begun && speaks_http(&tls->carrier)) {
        refuse_plain(tls);
        return;
    }
    tls->begun = true;
    forget_errors();
    result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        become_open(endpoint);
    else if (SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ)
        fail(tls, -EPROTO);
}

/* OpenSSL finds out as well, but not as cheaply. */
static bool has_read_all(const struct uw_tls *tls)
{
    return tls->carrier.input_left == 0 && !SSL_has_pending(tls->ssl);
}

/* All that can be read, as far as there is room. */
static size_t read_plaintext(struct uw_tls *tls)
{
    struct uw_tls_buffers *buffers = tls->carrier.buffers;
    size_t length = 0, count;
    int error;

    while (length < sizeof buffers->received) {
        if (SSL_read_ex(tls->ssl, buffers->received + length, sizeof buffers->received - length, &count) != 1)
            break;
        length += count;
        if (has_read_all(tls))
            return length;
    }
    if (length == sizeof buffers->received || tls->state == FAILED)
        return length;
    error = SSL_get_error(tls->ssl, 0);
    if (error == SSL_ERROR_ZERO_RETURN)
        tls->state = ENDED;
    else if (error != SSL_ERROR_WANT_READ)
        fail(tls, -EPROTO);
    return length;
}

static void hand_over(struct uw_endpoint *endpoint)
{
    struct uw_tls_buffers *buffers = endpoint->tls->carrier.buffers;
    size_t length;

    do {
        forget_errors();
        length = read_plaintext(endpoint->tls);
        if (length)
            endpoint->owner->received(endpoint, buffers->received, length);
    } while (length == sizeof buffers->received && !endpoint->closed);
}

static void drop(struct uw_endpoint *endpoint, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    tls->dropped += length;
    if (tls->dropped > DROPPED_BYTES_MAX)
        uw_cancel(endpoint->loop, &endpoint->receive);
}

static void take_in(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    tls->received += length;
    tls->carrier.input = bytes;
    tls->carrier.input_left = length;
    tls->busy = true;
    if (tls->state == HANDSHAKE)
        shake_hands(endpoint);
    if (tls->state == OPEN && !endpoint->closed)
        hand_over(endpoint);
    forget_errors();
    tls->busy = false;
    tls->carrier.input_left = 0;
    if (tls->state == ENDED)
        uw_cancel(endpoint->loop, &endpoint->receive);
    go_on(endpoint);
}

static bool within_record(const SSL *ssl)
{
    return SSL_has_pending(ssl) || strcmp(SSL_rstate_string(ssl), "RB") == 0; /* a header was read, but no body */
}

static int32_t end_of(const struct uw_tls *tls, int32_t result)
{
    if (tls->state == ENDED)
        return 0;
    return result == 0 && within_record(tls->ssl) ? -ECONNRESET : result;
}

static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_owner(operation, struct uw_endpoint, receive);
    struct uw_tls *tls = endpoint->tls;

    (void)loop;
    if (endpoint->closed)
        settle(endpoint);
    else if (result > 0 && (tls->state == HANDSHAKE || tls->state == OPEN))
        take_in(endpoint, operation->data, (size_t)result);
    else if (result > 0)
        drop(endpoint, (size_t)result);
    else if (tls->state == FAILED)
        go_on(endpoint);
    else
        endpoint->owner->receive_ended(endpoint, end_of(tls, result));
}

static int start(struct uw_endpoint *endpoint, struct uw_tls *tls)
{
    tls->carrier.buffers = uw_tls_buffers_of(endpoint->loop);
    if (!tls->carrier.buffers)
        return -ENOMEM;
    tls->carrier.fd = endpoint->fd;
    tls->ssl = uw_tls_context_start(endpoint->context, &tls->carrier);
    forget_errors();
    return tls->ssl ? 0 : -ENOMEM;
}

static int open_endpoint(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = calloc(1, sizeof *tls);

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls || start(endpoint, tls)) {
        free(tls);
        return -ENOMEM;
    }
    tls->context = uw_tls_context_hold(endpoint->context);
    endpoint->tls = tls;
    endpoint->receive = (struct uw_operation){.verb = UW_RECEIVE, .fd = endpoint->fd, .complete = received};
    uw_submit(endpoint->loop, &endpoint->receive);
    return 0;
}

/* It is being received since `open`, at first. */
static void receive(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    if (!endpoint->receive.pending)
        uw_submit(endpoint->loop, &endpoint->receive);
}

/* As in plain.c. */
static void pause_endpoint(struct uw_endpoint *endpoint)
{
    endpoint->receive.stepwise = true;
    uw_cancel(endpoint->loop, &endpoint->receive);
}

static size_t weight(const struct uw_chunk *first, size_t most)
{
    size_t sum = 0;

    for (const struct uw_chunk *chunk = first; chunk && sum < most; chunk = chunk->next)
        sum += chunk->length - chunk->sent + (size_t)chunk->rest_left;
    return sum < most ? sum : most;
}

static int64_t seal(struct uw_tls *tls, const struct uw_chunk *first)
{
    struct uw_tls_carrier *carrier = &tls->carrier;
    bool many = uw_tls_buffers_have_large(carrier->buffers);
    size_t bytes = weight(first, many ? UW_SEND_BYTES_MAX : UW_TLS_RECORD_BYTES_MAX);
    int64_t sealed;

    if (!carrier->output) /* at once as large as it will be */
        carrier->output = uw_tls_buffer_take(carrier->buffers, uw_tls_sealed_bytes(bytes));
    if (!carrier->output)
        return -ENOMEM;
    sealed = uw_tls_seal(tls->ssl, carrier->buffers, first, bytes);
    if (carrier->output->length == 0)
        drop_output(tls);
    return sealed;
}

/* The owner hears of it in the next turn. */
static void tell_later(struct uw_endpoint *endpoint)
{
    if (endpoint->send.pending)
        return;
    endpoint->send = (struct uw_operation){.verb = UW_SEND, .fd = -1, .complete = left};
    uw_submit(endpoint->loop, &endpoint->send);
}

static int32_t refusal(const struct uw_tls *tls)
{
    if (tls->broken)
        return tls->broken;
    return tls->state == FAILED || tls->shut ? -EPIPE : 0;
}

static bool has_room(const struct uw_endpoint *endpoint)
{
    struct pollfd item = {.fd = endpoint->fd, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* of a failure the next send tells */
}

/* The kernel takes a record, seals it, and may find that the socket has no room: then it holds the record back, and
 * drops it when the stream ends meanwhile, though it has been told as sent. So nothing is told here but what is in the
 * socket for certain, as it is of a plain connection. */
static bool may_be_held_back(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    tls->unseen += (uint64_t)tls->taken;
    if (tls->unseen > UNSEEN_BYTES_MAX && has_room(endpoint))
        tls->unseen = 0;
    return tls->unseen > UNSEEN_BYTES_MAX;
}

static void await_room(struct uw_endpoint *endpoint);

/* On io_uring the wait ends as well when the client has said all (POLLRDHUP), which is not room. */
static void found_room(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_owner(operation, struct uw_endpoint, send);

    (void)loop;
    if (result >= 0 && !endpoint->closed && !has_room(endpoint)) {
        await_room(endpoint);
        return;
    }
    endpoint->tls->unseen = 0;
    if (!endpoint->closed)
        tell_sent(endpoint, result < 0 ? result : endpoint->tls->taken);
    go_on(endpoint);
}

static void await_room(struct uw_endpoint *endpoint)
{
    endpoint->send =
        (struct uw_operation){.verb = UW_POLL, .fd = endpoint->fd, .length = POLLOUT, .complete = found_room};
    uw_submit(endpoint->loop, &endpoint->send);
}

static void kernel_took(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_owner(operation, struct uw_endpoint, send);
    struct uw_tls *tls = endpoint->tls;

    (void)loop;
    tls->taken = result;
    tls->broken = result < 0 ? result : 0;
    if (!endpoint->closed && result > 0 && may_be_held_back(endpoint)) {
        await_room(endpoint);
        return;
    }
    if (!endpoint->closed)
        tell_sent(endpoint, result);
    go_on(endpoint);
}

static void send_as_it_is(struct uw_endpoint *endpoint, const struct uw_chunk *first)
{
    uw_chunk_prepare_send(endpoint, first);
    endpoint->send.in_parts = true;
    endpoint->send.complete = kernel_took;
    uw_submit(endpoint->loop, &endpoint->send);
}

static void send_chunks(struct uw_endpoint *endpoint, struct uw_chunk *first)
{
    struct uw_tls *tls = endpoint->tls;

    UW_ASSERT_OWNER(endpoint->loop);
    endpoint->sending = true;
    tls->taken = refusal(tls);
    if (!tls->taken && tls->carrier.kernel_seals) {
        send_as_it_is(endpoint, first);
        return;
    }
    if (!tls->taken)
        tls->taken = seal(tls, first);
    forget_errors();
    if (tls->taken > 0)
        (void)flush(endpoint);
    else
        tell_later(endpoint);
}

static size_t progress(const struct uw_endpoint *endpoint)
{
    const struct uw_tls *tls = endpoint->tls;

    if (endpoint->sending && tls->carrier.kernel_seals)
        return tls->taken > 0 ? (size_t)tls->taken : endpoint->send.done;
    if (!endpoint->sending || !tls->carries || !tls->carrier.leaving)
        return 0;
    return (size_t)((uint64_t)tls->taken * endpoint->send.done / tls->carrier.leaving->length);
}

/* Close_notify, and then the end of the stream; after what is leaving right now. */
static int shut(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls->shut && (tls->state == OPEN || tls->state == ENDED))
        (void)SSL_shutdown(tls->ssl); /* without memory for it, the end of the stream has to do */
    forget_errors();
    tls->shut = true;
    if (!endpoint->send.pending && !tls->broken) /* the owner may be about to close */
        (void)uw_tls_buffer_leave(tls->carrier.buffers, &tls->carrier.output, endpoint->fd);
    return flush(endpoint) ? 0 : shut_down(endpoint);
}

static void close_endpoint(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    endpoint->closed = true;
    if (endpoint->tls) /* else it could not be opened */
        drop_output(endpoint->tls);
    uw_cancel(endpoint->loop, &endpoint->receive);
    uw_cancel(endpoint->loop, &endpoint->send);
    settle(endpoint);
}

/* Of buffers only those of a closed loop are left here. */
static void release(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (!tls)
        return;
    SSL_free(tls->ssl);
    forget_errors();
    uw_tls_context_release(tls->context);
    uw_tls_peer_forget(&tls->peer);
    free(tls->carrier.leaving);
    free(tls->carrier.output);
    free(tls);
    endpoint->tls = NULL;
}

const struct uw_tls_peer *uw_endpoint_peer(const struct uw_endpoint *endpoint)
{
    return endpoint->tls && endpoint->tls->peer.version ? &endpoint->tls->peer : NULL;
}

const struct uw_transport uw_transport_tls = {
    .name = "tls",
    .hands_out_descriptor = false,
    .open = open_endpoint,
    .receive = receive,
    .pause = pause_endpoint,
    .send = send_chunks,
    .progress = progress,
    .shut = shut,
    .close = close_endpoint,
    .release = release,
};
