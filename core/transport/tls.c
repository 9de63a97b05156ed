/* TLS by OpenSSL, which sees neither the descriptor nor the loop. Received bytes are fed to OpenSSL, and its output is
 * sent by the loop. One send is in the kernel at a time; later output follows it.
 *
 *     handshake   receives from `open` until the handshake is done: `ready`. While the handshake is queued, its
 *                 bytes are buffered, and no more are received
 *     open        plaintext goes both ways
 *     ended       the client has ended its side (close_notify); sending continues
 *     failed      the client gets an alert, then the end of the stream. Further bytes are dropped: closing with unread
 *                 bytes would reset the connection and drop the alert
 *
 * An end of stream without close_notify counts as the end if it comes between records. HTTP and WebSocket detect
 * incomplete messages themselves, and many clients disconnect in this way. Within a record it counts as -ECONNRESET. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "io/shutdown_and_close.h"
#include "transport/chunk_send.h"
#include "transport/tls_bio.h"
#include "transport/tls_connection_info.h"
#include "transport/tls_record_writer.h"

/* The limit of messages that a client may send after the handshake: key updates, and requests for renegotiation, which
 * is not supported. A message costs the server more than the client. */
#define LATE_MESSAGES_MAX 32
#define LATE_MESSAGE_BYTES (1024 * 1024) /* so many received bytes permit one more */
#define UNSEEN_BYTES_MAX 16384 /* the kernel seals them, and the socket has space for them whenever it has any */
#define DROPPED_BYTES_MAX (256 * 1024) /* limit after a failure; then the server no longer waits for the client */

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
    bool carries;   /* the bytes being sent contain chunks of the owner */
    int64_t taken;  /* how many bytes of the chunks the owner's send has sent, or its -errno */
    int32_t broken; /* the -errno with which the kernel refused bytes, or 0 */
    enum state state;
    int32_t end; /* the result of receive_ended, when FAILED */
    uint64_t received;
    uint64_t late_messages;
    uint64_t unseen; /* bytes sent since the socket last had space, when the kernel seals */
    size_t dropped;
    bool begun;    /* bytes have arrived */
    bool answered; /* OpenSSL has written bytes of the handshake */
    bool shut;     /* nothing more is sent; the stream ends after the output */
    bool shut_down;
    bool told; /* the owner knows of the end, when FAILED */
    bool busy; /* a function of the owner runs, which may close the endpoint */
    struct uw_endpoint *endpoint;
    struct uw_tls_place place; /* the entry in the queue of handshakes */
    char *deferred;            /* received bytes that wait; NULL: none */
    size_t deferred_length;
    struct uw_tls_peer peer;
};

static void left(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Clears the thread's errors, which the application shares. A check comes first, because clearing walks the whole queue
 * and errors are rare. */
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

/* Returns whether a send is in the kernel. */
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
        endpoint->send = (struct uw_operation){.opcode = UW_SEND,
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

/* Runs after every event: sends pending output and reports an end that has come. */
static void go_on(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (endpoint->closed) {
        settle(endpoint);
        return;
    }
    if (tls->state == FAILED && tls->carrier.kernel_seals)
        uw_cancel(endpoint->loop, &endpoint->send); /* the alert has been sent already */
    if (flush(endpoint))
        return;
    if (tls->shut || tls->state == FAILED)
        (void)shut_down(endpoint); /* fails when the client has disconnected */
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

/* A send has ended. A send with fd -1 only reports a failure. */
static void left(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);
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

/* Counts handshake messages that arrive during a read. Too many end the connection. */
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
    endpoint->receive.oneshot = false;
    SSL_set_msg_callback(tls->ssl, count_message);
    SSL_set_msg_callback_arg(tls->ssl, tls);
    endpoint->owner->ready(endpoint);
}

/* Every plain HTTP request begins with a capital letter, and no TLS record does. */
static bool speaks_http(const struct uw_tls_carrier *carrier)
{
    return carrier->input[0] >= 'A' && carrier->input[0] <= 'Z';
}

static void refuse_plain(struct uw_tls *tls)
{
    /* Without memory for the response, the connection just ends. */
    (void)uw_tls_buffer_append(tls->carrier.buffers, &tls->carrier.output, plain_answer, sizeof plain_answer - 1);
    fail(tls, -EPROTO);
}

/* A handshake needs a reply of the client, so a client that disconnected before the server's first flight costs no
 * signature. Later the client may have sent all its data. */
static bool is_in_vain(const struct uw_tls *tls)
{
    return !tls->answered && uw_has_hung_up(tls->carrier.fd);
}

static void shake_hands(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;
    int64_t begun_ns = uw_clock_ns();
    int result;

    if (!tls->begun && speaks_http(&tls->carrier)) {
        refuse_plain(tls);
        return;
    }
    tls->begun = true;
    if (is_in_vain(tls)) {
        fail(tls, -ECONNRESET);
        return;
    }
    forget_errors();
    result = SSL_do_handshake(tls->ssl);
    uw_tls_handshake_queue_note(&tls->carrier.buffers->line, begun_ns);
    tls->answered = tls->answered || tls->carrier.output;
    if (result == 1)
        become_open(endpoint);
    else if (SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ)
        fail(tls, -EPROTO);
}

/* OpenSSL could report this too, but at a higher cost. */
static bool has_read_all(const struct uw_tls *tls)
{
    return tls->carrier.input_left == 0 && !SSL_has_pending(tls->ssl);
}

/* Reads as much plaintext as there is and fits. */
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
    if (tls->state == HANDSHAKE && !endpoint->closed && !endpoint->receive.pending) /* the handshake waited in line */
        uw_submit(endpoint->loop, &endpoint->receive);
    go_on(endpoint);
}

static void forget_held(struct uw_tls *tls)
{
    free(tls->deferred);
    tls->deferred = NULL;
    tls->deferred_length = 0;
}

/* Buffers the bytes of a waiting handshake. With `oneshot`, no more are received after these: see open_endpoint. */
static bool defer_input(struct uw_tls *tls, const char *bytes, size_t length)
{
    char *deferred = realloc(tls->deferred, tls->deferred_length + length);

    if (!deferred)
        return false;
    memcpy(deferred + tls->deferred_length, bytes, length);
    tls->deferred = deferred;
    tls->deferred_length += length;
    return true;
}

/* Later bytes remain in the kernel until the handshake continues. */
static void wait_in_line(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    if (!defer_input(endpoint->tls, bytes, length))
        fail(endpoint->tls, -ENOMEM);
    uw_cancel(endpoint->loop, &endpoint->receive);
    go_on(endpoint);
}

static void called(struct uw_tls_place *place)
{
    struct uw_tls *tls = uw_container_of(place, struct uw_tls, place);
    size_t length = tls->deferred_length;
    char *deferred = tls->deferred;

    tls->deferred = NULL;
    tls->deferred_length = 0;
    take_in(tls->endpoint, deferred, length);
    free(deferred);
}

static bool has_turn(struct uw_tls *tls)
{
    return tls->state == OPEN || uw_tls_handshake_queue_lets_in(&tls->carrier.buffers->line, tls->answered);
}

static bool within_record(const SSL *ssl)
{
    return SSL_has_pending(ssl) || strcmp(SSL_rstate_string(ssl), "RB") == 0; /* the header was read, but no body */
}

static bool holds_bytes(const struct uw_endpoint *endpoint)
{
    return endpoint->tls->ssl && (endpoint->tls->deferred || within_record(endpoint->tls->ssl));
}

static int32_t end_of(const struct uw_tls *tls, int32_t result)
{
    if (tls->state == ENDED)
        return 0;
    return result == 0 && within_record(tls->ssl) ? -ECONNRESET : result;
}

static void take(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->state != HANDSHAKE && tls->state != OPEN)
        drop(endpoint, length);
    else if (tls->deferred || !has_turn(tls))
        wait_in_line(endpoint, bytes, length);
    else
        take_in(endpoint, bytes, length);
}

/* A client that waits in line is not received from. If its stream ended instead, the end is reported again later. */
static void end_receiving(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->deferred && tls->state == HANDSHAKE)
        uw_tls_handshake_queue_wait(&tls->carrier.buffers->line, &tls->place, tls->answered);
    else if (tls->state == FAILED)
        go_on(endpoint);
    else
        endpoint->owner->receive_ended(endpoint, end_of(tls, result));
}

static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, receive);

    (void)loop;
    if (endpoint->closed)
        settle(endpoint);
    else if (result > 0)
        take(endpoint, operation->data, (size_t)result);
    else
        end_receiving(endpoint, result);
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

/* A client in the backlog may have disconnected after its ClientHello. Plain HTTP still gets its response. */
static bool has_left(int fd)
{
    char first = SSL3_RT_HANDSHAKE;

    return uw_has_hung_up(fd) &&
           (recv(fd, &first, sizeof first, MSG_PEEK | MSG_DONTWAIT) <= 0 || first == SSL3_RT_HANDSHAKE);
}

static int open_endpoint(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = has_left(endpoint->fd) ? NULL : calloc(1, sizeof *tls);

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls || start(endpoint, tls)) {
        free(tls);
        return -ENOMEM;
    }
    tls->context = uw_tls_context_retain(endpoint->context);
    tls->endpoint = endpoint;
    uw_tls_place_init(&tls->place, called);
    endpoint->tls = tls;
    endpoint->receive =
        (struct uw_operation){.opcode = UW_RECEIVE, .fd = endpoint->fd, .oneshot = true, .complete = received};
    uw_submit(endpoint->loop, &endpoint->receive);
    return 0;
}

/* The endpoint receives since `open`, at first. */
static void receive(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    if (!endpoint->receive.pending)
        uw_submit(endpoint->loop, &endpoint->receive);
}

/* plain_tcp.c explains this. */
static void pause_endpoint(struct uw_endpoint *endpoint)
{
    endpoint->receive.oneshot = true;
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

    if (!carrier->output) /* take the final size at once */
        carrier->output = uw_tls_buffer_take(carrier->buffers, uw_tls_sealed_bytes(bytes));
    if (!carrier->output)
        return -ENOMEM;
    sealed = uw_tls_seal(tls->ssl, carrier->buffers, first, bytes);
    if (carrier->output->length == 0)
        drop_output(tls);
    return sealed;
}

/* Reports the result of a send to the owner in the next turn. */
static void tell_later(struct uw_endpoint *endpoint)
{
    if (endpoint->send.pending)
        return;
    endpoint->send = (struct uw_operation){.opcode = UW_SEND, .fd = -1, .complete = left};
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

    return poll(&item, 1, 0) != 0; /* the next send reports a failure */
}

/* The kernel seals a record, and may find no space in the socket. It then delays the record, and drops the record if
 * the stream ends meanwhile, though it reported the record as sent. So this transport reports only bytes that are
 * certainly in the socket, as on a plain connection. */
static bool may_be_held_back(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    tls->unseen += (uint64_t)tls->taken;
    if (tls->unseen > UNSEEN_BYTES_MAX && has_room(endpoint))
        tls->unseen = 0;
    return tls->unseen > UNSEEN_BYTES_MAX;
}

static void await_room(struct uw_endpoint *endpoint);

/* On io_uring the wait also ends when the client shuts down its sending side (POLLRDHUP), which does not mean space. */
static void found_room(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);

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
        (struct uw_operation){.opcode = UW_POLL, .fd = endpoint->fd, .length = POLLOUT, .complete = found_room};
    uw_submit(endpoint->loop, &endpoint->send);
}

static void kernel_took(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);
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
    endpoint->send.no_waitall = true;
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

/* Sends close_notify, then ends the stream, after the bytes that are being sent now. */
static int shut(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls->shut && (tls->state == OPEN || tls->state == ENDED))
        (void)SSL_shutdown(tls->ssl); /* without memory for close_notify, only the stream ends */
    forget_errors();
    tls->shut = true;
    if (!endpoint->send.pending && !tls->broken) /* the owner may close the endpoint next */
        (void)uw_tls_buffer_leave(tls->carrier.buffers, &tls->carrier.output, endpoint->fd);
    return flush(endpoint) ? 0 : shut_down(endpoint);
}

static void close_endpoint(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    endpoint->closed = true;
    if (endpoint->tls) { /* NULL: the endpoint could not be opened */
        uw_tls_handshake_queue_leave(&endpoint->tls->place);
        forget_held(endpoint->tls);
        drop_output(endpoint->tls);
    }
    uw_cancel(endpoint->loop, &endpoint->receive);
    uw_cancel(endpoint->loop, &endpoint->send);
    settle(endpoint);
}

/* Only an endpoint of a closed loop still has buffers here. */
static void release(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (!tls)
        return;
    SSL_free(tls->ssl);
    forget_errors();
    uw_tls_context_release(tls->context);
    uw_tls_peer_forget(&tls->peer);
    uw_tls_handshake_queue_leave(&tls->place);
    forget_held(tls);
    free(tls->carrier.leaving);
    free(tls->carrier.output);
    free(tls);
    endpoint->tls = NULL;
}

const struct uw_tls_peer *uw_endpoint_peer(const struct uw_endpoint *endpoint)
{
    bool agreed = endpoint->transport == &uw_transport_tls && endpoint->tls && endpoint->tls->peer.version;

    return agreed ? &endpoint->tls->peer : NULL;
}

const struct uw_transport uw_transport_tls = {
    .name = "tls",
    .hands_out_descriptor = false,
    .open = open_endpoint,
    .receive = receive,
    .pause = pause_endpoint,
    .holds_bytes = holds_bytes,
    .send = send_chunks,
    .progress = progress,
    .shut = shut,
    .close = close_endpoint,
    .release = release,
};
