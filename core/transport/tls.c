/* TLS by OpenSSL, which uses neither the descriptor nor the loop. OpenSSL gets the received bytes, and the loop sends
 * its output. One send is in the kernel at a time, and later output follows it.
 *
 *     handshake   receives from `open` until the end of the handshake, which calls `ready`. While the handshake is
 *                 queued, its bytes are buffered, and no more bytes are received
 *     open        plaintext flows in both directions
 *     ended       the client has sent close_notify, and sending continues
 *     failed      the client gets an alert, then the end of the stream. Further bytes are dropped: closing with unread
 *                 bytes would reset the connection and lose the alert
 *
 * An end of stream without close_notify between records counts as a normal end. HTTP and WebSocket detect incomplete
 * messages themselves, and many clients disconnect in this way. Within a record it counts as -ECONNRESET. */
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

/* Limit of handshake messages after the handshake: key updates, and requests for renegotiation, which are refused. A
 * message costs the server more than the client. */
#define LATE_MESSAGES_MAX 32
#define LATE_MESSAGE_BYTES (1024 * 1024) /* so many received bytes permit one more message */
#define UNCONFIRMED_BYTES_MAX 16384      /* bytes that need no check for space: a writable socket takes as many */
#define DROPPED_BYTES_MAX (256 * 1024)   /* limit after a failure. Beyond, the server no longer waits for the client */

static const char plain_http_response[] = "HTTP/1.1 400 Bad Request\r\n"
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
    bool output_has_chunks; /* the output in the kernel contains chunks of the owner */
    int64_t chunk_bytes;    /* number of sent bytes of the owner's chunks, or -errno */
    int32_t send_error;     /* -errno of a failed send, or 0 */
    enum state state;
    int32_t end_result; /* result of receive_ended in state FAILED */
    uint64_t received;
    uint64_t late_messages;
    uint64_t unconfirmed; /* bytes sent by kernel TLS since the socket last had space */
    size_t dropped;
    bool input_begun;        /* the first bytes have arrived */
    bool handshake_answered; /* OpenSSL has written bytes of the handshake */
    bool sending_shut;       /* the owner has shut sending: the stream ends after the output */
    bool fin_sent;
    bool failure_reported; /* the owner knows of the failure, in state FAILED */
    bool in_callback;      /* a function of the owner is running, which may close the endpoint */
    struct uw_endpoint *endpoint;
    struct uw_tls_queued_handshake queued_handshake; /* entry in the queue of handshakes */
    char *deferred;                                  /* received bytes of a queued handshake, or NULL */
    size_t deferred_length;
    struct uw_tls_peer peer;
};

static void handle_output_sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Clears OpenSSL's errors of the thread, which the application shares. A check comes first: clearing walks the whole
 * queue, and errors are rare. */
static void clear_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

static void settle_when_idle(struct uw_endpoint *endpoint)
{
    if (endpoint->settled || (endpoint->tls && endpoint->tls->in_callback) || endpoint->receive.pending ||
        endpoint->send.pending)
        return;
    endpoint->settled = true;
    endpoint->owner->settled(endpoint);
}

static void fail_connection(struct uw_tls *tls, int32_t end)
{
    tls->state = FAILED;
    tls->end_result = end;
}

static void drop_output(struct uw_tls *tls)
{
    if (tls->carrier.output)
        uw_tls_buffer_return(tls->carrier.buffers, tls->carrier.output);
    tls->carrier.output = NULL;
}

/* Sends pending output. Returns true if a send is in the kernel. */
static bool send_output(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;
    struct uw_tls_buffer *output = tls->carrier.output;

    if (tls->send_error)
        drop_output(tls);
    else if (output && !endpoint->send.pending) {
        tls->carrier.in_flight = output;
        tls->carrier.output = NULL;
        tls->output_has_chunks = endpoint->sending && tls->chunk_bytes > 0;
        endpoint->send = (struct uw_operation){.opcode = UW_SEND,
                                               .fd = endpoint->fd,
                                               .data = output->bytes,
                                               .length = (uint32_t)output->length,
                                               .complete = handle_output_sent};
        uw_submit(endpoint->loop, &endpoint->send);
    }
    return endpoint->send.pending;
}

static int send_fin(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->fin_sent)
        return 0;
    tls->fin_sent = true;
    return shutdown(endpoint->fd, SHUT_WR) ? -errno : 0;
}

/* Runs after every event. Sends pending output, and reports a failure to the owner. */
static void continue_after_event(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (endpoint->closed) {
        settle_when_idle(endpoint);
        return;
    }
    if (tls->state == FAILED && tls->carrier.kernel_seals)
        uw_cancel(endpoint->loop, &endpoint->send); /* the alert has been sent already */
    if (send_output(endpoint))
        return;
    if (tls->sending_shut || tls->state == FAILED)
        (void)send_fin(endpoint); /* fails if the client has disconnected */
    if (tls->state == FAILED && !endpoint->receive.pending && !tls->failure_reported) {
        tls->failure_reported = true;
        endpoint->owner->receive_ended(endpoint, tls->end_result);
    }
}

static void report_sent(struct uw_endpoint *endpoint, int64_t count)
{
    endpoint->sending = false;
    endpoint->tls->in_callback = true;
    endpoint->owner->sent(endpoint, count);
    endpoint->tls->in_callback = false;
}

/* A send has ended. A send with descriptor -1 only reports a result. */
static void handle_output_sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);
    struct uw_tls *tls = endpoint->tls;

    (void)loop;
    if (tls->carrier.in_flight) {
        uw_tls_buffer_return(tls->carrier.buffers, tls->carrier.in_flight);
        tls->send_error = result < 0 ? result : 0;
    }
    tls->carrier.in_flight = NULL;
    if (tls->send_error && tls->state == HANDSHAKE) {
        fail_connection(tls, tls->send_error);
        uw_cancel(endpoint->loop, &endpoint->receive);
    }
    if (!endpoint->closed && endpoint->sending && (tls->output_has_chunks || tls->send_error || tls->chunk_bytes <= 0))
        report_sent(endpoint, tls->send_error ? tls->send_error : tls->chunk_bytes);
    continue_after_event(endpoint);
}

/* Counts handshake messages that arrive during a read. Too many messages end the connection. */
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
        fail_connection(tls, -EPROTO);
        tls->carrier.input_left = 0;
    }
}

static void finish_handshake(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (!uw_tls_peer_init(&tls->peer, tls->context, tls->ssl)) {
        fail_connection(tls, -ENOMEM);
        return;
    }
    tls->state = OPEN;
    endpoint->receive.oneshot = false;
    SSL_set_msg_callback(tls->ssl, count_message);
    SSL_set_msg_callback_arg(tls->ssl, tls);
    endpoint->owner->ready(endpoint);
}

/* Every plain HTTP request begins with a capital letter, but no TLS record. */
static bool is_plain_http(const struct uw_tls_carrier *carrier)
{
    return carrier->input[0] >= 'A' && carrier->input[0] <= 'Z';
}

static void refuse_plain_http(struct uw_tls *tls)
{
    /* Without memory for the response the connection only ends. */
    (void)uw_tls_buffer_append(tls->carrier.buffers, &tls->carrier.output, plain_http_response,
                               sizeof plain_http_response - 1);
    fail_connection(tls, -EPROTO);
}

/* Saves the signature for a client that disconnected before the server's first flight. The check is valid only then:
 * later the client may have sent all its data. */
static bool client_has_disconnected(const struct uw_tls *tls)
{
    return !tls->handshake_answered && uw_has_hung_up(tls->carrier.fd);
}

static void continue_handshake(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;
    int64_t begun_ns = uw_clock_ns();
    int result;

    if (!tls->input_begun && is_plain_http(&tls->carrier)) {
        refuse_plain_http(tls);
        return;
    }
    tls->input_begun = true;
    if (client_has_disconnected(tls)) {
        fail_connection(tls, -ECONNRESET);
        return;
    }
    clear_errors();
    result = SSL_do_handshake(tls->ssl);
    uw_tls_handshake_queue_count_time(&tls->carrier.buffers->handshakes, begun_ns);
    tls->handshake_answered = tls->handshake_answered || tls->carrier.output;
    if (result == 1)
        finish_handshake(endpoint);
    else if (SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ)
        fail_connection(tls, -EPROTO);
}

/* OpenSSL could report this too, but at a higher cost. */
static bool has_read_all(const struct uw_tls *tls)
{
    return tls->carrier.input_left == 0 && !SSL_has_pending(tls->ssl);
}

/* Reads as much plaintext as available, up to the size of the buffer. */
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
        fail_connection(tls, -EPROTO);
    return length;
}

static void deliver_plaintext(struct uw_endpoint *endpoint)
{
    struct uw_tls_buffers *buffers = endpoint->tls->carrier.buffers;
    size_t length;

    do {
        clear_errors();
        length = read_plaintext(endpoint->tls);
        if (length)
            endpoint->owner->received(endpoint, buffers->received, length);
    } while (length == sizeof buffers->received && !endpoint->closed);
}

static void drop_bytes(struct uw_endpoint *endpoint, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    tls->dropped += length;
    if (tls->dropped > DROPPED_BYTES_MAX)
        uw_cancel(endpoint->loop, &endpoint->receive);
}

static void process_input(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    tls->received += length;
    tls->carrier.input = bytes;
    tls->carrier.input_left = length;
    tls->in_callback = true;
    if (tls->state == HANDSHAKE)
        continue_handshake(endpoint);
    if (tls->state == OPEN && !endpoint->closed)
        deliver_plaintext(endpoint);
    clear_errors();
    tls->in_callback = false;
    tls->carrier.input_left = 0;
    if (tls->state == ENDED)
        uw_cancel(endpoint->loop, &endpoint->receive);
    if (tls->state == HANDSHAKE && !endpoint->closed && !endpoint->receive.pending) /* the handshake was queued */
        uw_submit(endpoint->loop, &endpoint->receive);
    continue_after_event(endpoint);
}

static void free_deferred(struct uw_tls *tls)
{
    free(tls->deferred);
    tls->deferred = NULL;
    tls->deferred_length = 0;
}

/* Buffers the bytes of a queued handshake. Receiving is single-shot, so no bytes follow: see open_endpoint. */
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

/* Queues the handshake. Later bytes remain in the kernel until the handshake continues. */
static void queue_handshake(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    if (!defer_input(endpoint->tls, bytes, length))
        fail_connection(endpoint->tls, -ENOMEM);
    uw_cancel(endpoint->loop, &endpoint->receive);
    continue_after_event(endpoint);
}

static void resume_handshake(struct uw_tls_queued_handshake *queued_handshake)
{
    struct uw_tls *tls = uw_container_of(queued_handshake, struct uw_tls, queued_handshake);
    size_t length = tls->deferred_length;
    char *deferred = tls->deferred;

    tls->deferred = NULL;
    tls->deferred_length = 0;
    process_input(tls->endpoint, deferred, length);
    free(deferred);
}

static bool may_process_input(struct uw_tls *tls)
{
    return tls->state == OPEN ||
           uw_tls_handshake_queue_may_run(&tls->carrier.buffers->handshakes, tls->handshake_answered);
}

static bool within_record(const SSL *ssl)
{
    return SSL_has_pending(ssl) || strcmp(SSL_rstate_string(ssl), "RB") == 0; /* "RB": only the header has been read */
}

static bool holds_bytes(const struct uw_endpoint *endpoint)
{
    return endpoint->tls->ssl && (endpoint->tls->deferred || within_record(endpoint->tls->ssl));
}

static int32_t end_of_stream(const struct uw_tls *tls, int32_t result)
{
    if (tls->state == ENDED)
        return 0;
    return result == 0 && within_record(tls->ssl) ? -ECONNRESET : result;
}

static void handle_bytes(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->state != HANDSHAKE && tls->state != OPEN)
        drop_bytes(endpoint, length);
    else if (tls->deferred || !may_process_input(tls))
        queue_handshake(endpoint, bytes, length);
    else
        process_input(endpoint, bytes, length);
}

/* Receiving stops for a queued handshake. If the stream has ended, the end is reported again later. */
static void end_receiving(struct uw_endpoint *endpoint, int32_t result)
{
    struct uw_tls *tls = endpoint->tls;

    if (tls->deferred && tls->state == HANDSHAKE)
        uw_tls_handshake_queue_add(&tls->carrier.buffers->handshakes, &tls->queued_handshake, tls->handshake_answered);
    else if (tls->state == FAILED)
        continue_after_event(endpoint);
    else
        endpoint->owner->receive_ended(endpoint, end_of_stream(tls, result));
}

static void handle_received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, receive);

    (void)loop;
    if (endpoint->closed)
        settle_when_idle(endpoint);
    else if (result > 0)
        handle_bytes(endpoint, operation->data, (size_t)result);
    else
        end_receiving(endpoint, result);
}

static int start_ssl(struct uw_endpoint *endpoint, struct uw_tls *tls)
{
    tls->carrier.buffers = uw_tls_buffers_of(endpoint->loop);
    if (!tls->carrier.buffers)
        return -ENOMEM;
    tls->carrier.fd = endpoint->fd;
    tls->ssl = uw_tls_context_start(endpoint->context, &tls->carrier);
    clear_errors();
    return tls->ssl ? 0 : -ENOMEM;
}

/* A client in the backlog may have disconnected after its ClientHello. A client with plain HTTP still gets its
 * response. */
static bool has_disconnected_early(int fd)
{
    char first = SSL3_RT_HANDSHAKE;

    return uw_has_hung_up(fd) &&
           (recv(fd, &first, sizeof first, MSG_PEEK | MSG_DONTWAIT) <= 0 || first == SSL3_RT_HANDSHAKE);
}

static int open_endpoint(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = has_disconnected_early(endpoint->fd) ? NULL : calloc(1, sizeof *tls);

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls || start_ssl(endpoint, tls)) {
        free(tls);
        return -ENOMEM;
    }
    tls->context = uw_tls_context_retain(endpoint->context);
    tls->endpoint = endpoint;
    uw_tls_queued_handshake_init(&tls->queued_handshake, resume_handshake);
    endpoint->tls = tls;
    endpoint->receive =
        (struct uw_operation){.opcode = UW_RECEIVE, .fd = endpoint->fd, .oneshot = true, .complete = handle_received};
    uw_submit(endpoint->loop, &endpoint->receive);
    return 0;
}

/* Receiving has started in `open` and may still be pending. */
static void start_receiving(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    if (!endpoint->receive.pending)
        uw_submit(endpoint->loop, &endpoint->receive);
}

/* See pause_receiving in plain_tcp.c. */
static void pause_endpoint(struct uw_endpoint *endpoint)
{
    endpoint->receive.oneshot = true;
    uw_cancel(endpoint->loop, &endpoint->receive);
}

static size_t bytes_to_seal(const struct uw_chunk *first, size_t most)
{
    size_t sum = 0;

    for (const struct uw_chunk *chunk = first; chunk && sum < most; chunk = chunk->next)
        sum += chunk->length - chunk->sent + (size_t)chunk->rest_left;
    return sum < most ? sum : most;
}

static int64_t seal_chunks(struct uw_tls *tls, const struct uw_chunk *first)
{
    struct uw_tls_carrier *carrier = &tls->carrier;
    bool many = uw_tls_buffers_have_large(carrier->buffers);
    size_t bytes = bytes_to_seal(first, many ? UW_SEND_BYTES_MAX : UW_TLS_RECORD_BYTES_MAX);
    int64_t sealed;

    if (!carrier->output) /* allocates the final size at once */
        carrier->output = uw_tls_buffer_take(carrier->buffers, uw_tls_sealed_bytes(bytes));
    if (!carrier->output)
        return -ENOMEM;
    sealed = uw_tls_seal(tls->ssl, carrier->buffers, first, bytes);
    if (carrier->output->length == 0)
        drop_output(tls);
    return sealed;
}

/* Reports the result of a send to the owner in the next turn. */
static void report_sent_later(struct uw_endpoint *endpoint)
{
    if (endpoint->send.pending)
        return;
    endpoint->send = (struct uw_operation){.opcode = UW_SEND, .fd = -1, .complete = handle_output_sent};
    uw_submit(endpoint->loop, &endpoint->send);
}

static int32_t send_refusal(const struct uw_tls *tls)
{
    if (tls->send_error)
        return tls->send_error;
    return tls->state == FAILED || tls->sending_shut ? -EPIPE : 0;
}

static bool is_writable(const struct uw_endpoint *endpoint)
{
    struct pollfd item = {.fd = endpoint->fd, .events = POLLOUT};

    return poll(&item, 1, 0) != 0; /* an error counts as writable: the next send reports it */
}

/* With kernel TLS, a send may succeed although the socket has no space for the record. The kernel then delays the
 * record, and drops it if the stream ends. So this transport reports only bytes that are certainly in the socket, as
 * for plain connections. */
static bool kernel_may_delay(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    tls->unconfirmed += (uint64_t)tls->chunk_bytes;
    if (tls->unconfirmed > UNCONFIRMED_BYTES_MAX && is_writable(endpoint))
        tls->unconfirmed = 0;
    return tls->unconfirmed > UNCONFIRMED_BYTES_MAX;
}

static void await_writable(struct uw_endpoint *endpoint);

/* On io_uring the wait also ends after the client's shutdown(SHUT_WR) (POLLRDHUP), which does not mean space. */
static void handle_writable(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);

    (void)loop;
    if (result >= 0 && !endpoint->closed && !is_writable(endpoint)) {
        await_writable(endpoint);
        return;
    }
    endpoint->tls->unconfirmed = 0;
    if (!endpoint->closed)
        report_sent(endpoint, result < 0 ? result : endpoint->tls->chunk_bytes);
    continue_after_event(endpoint);
}

static void await_writable(struct uw_endpoint *endpoint)
{
    endpoint->send =
        (struct uw_operation){.opcode = UW_POLL, .fd = endpoint->fd, .length = POLLOUT, .complete = handle_writable};
    uw_submit(endpoint->loop, &endpoint->send);
}

static void handle_kernel_sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_endpoint *endpoint = uw_container_of(operation, struct uw_endpoint, send);
    struct uw_tls *tls = endpoint->tls;

    (void)loop;
    tls->chunk_bytes = result;
    tls->send_error = result < 0 ? result : 0;
    if (!endpoint->closed && result > 0 && kernel_may_delay(endpoint)) {
        await_writable(endpoint);
        return;
    }
    if (!endpoint->closed)
        report_sent(endpoint, result);
    continue_after_event(endpoint);
}

static void send_by_kernel_tls(struct uw_endpoint *endpoint, const struct uw_chunk *first)
{
    uw_chunk_prepare_send(endpoint, first);
    endpoint->send.no_waitall = true;
    endpoint->send.complete = handle_kernel_sent;
    uw_submit(endpoint->loop, &endpoint->send);
}

static void send_chunks(struct uw_endpoint *endpoint, struct uw_chunk *first)
{
    struct uw_tls *tls = endpoint->tls;

    UW_ASSERT_OWNER(endpoint->loop);
    endpoint->sending = true;
    tls->chunk_bytes = send_refusal(tls);
    if (!tls->chunk_bytes && tls->carrier.kernel_seals) {
        send_by_kernel_tls(endpoint, first);
        return;
    }
    if (!tls->chunk_bytes)
        tls->chunk_bytes = seal_chunks(tls, first);
    clear_errors();
    if (tls->chunk_bytes > 0)
        (void)send_output(endpoint);
    else
        report_sent_later(endpoint);
}

static size_t send_progress(const struct uw_endpoint *endpoint)
{
    const struct uw_tls *tls = endpoint->tls;

    if (endpoint->sending && tls->carrier.kernel_seals)
        return tls->chunk_bytes > 0 ? (size_t)tls->chunk_bytes : endpoint->send.done;
    if (!endpoint->sending || !tls->output_has_chunks || !tls->carrier.in_flight)
        return 0;
    return (size_t)((uint64_t)tls->chunk_bytes * endpoint->send.done / tls->carrier.in_flight->length);
}

/* Sends close_notify, then ends the stream, after the bytes that are being sent. */
static int shut_sending(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    UW_ASSERT_OWNER(endpoint->loop);
    if (!tls->sending_shut && (tls->state == OPEN || tls->state == ENDED))
        (void)SSL_shutdown(tls->ssl); /* without memory for close_notify only the stream ends */
    clear_errors();
    tls->sending_shut = true;
    if (!endpoint->send.pending && !tls->send_error) /* the owner may close the endpoint next */
        (void)uw_tls_buffer_send_now(tls->carrier.buffers, &tls->carrier.output, endpoint->fd);
    return send_output(endpoint) ? 0 : send_fin(endpoint);
}

static void close_endpoint(struct uw_endpoint *endpoint)
{
    UW_ASSERT_OWNER(endpoint->loop);
    endpoint->closed = true;
    if (endpoint->tls) { /* NULL: the endpoint could not be opened */
        uw_tls_handshake_queue_remove(&endpoint->tls->queued_handshake);
        free_deferred(endpoint->tls);
        drop_output(endpoint->tls);
    }
    uw_cancel(endpoint->loop, &endpoint->receive);
    uw_cancel(endpoint->loop, &endpoint->send);
    settle_when_idle(endpoint);
}

/* Only an endpoint of a closed loop still has output here. */
static void release_endpoint(struct uw_endpoint *endpoint)
{
    struct uw_tls *tls = endpoint->tls;

    if (!tls)
        return;
    SSL_free(tls->ssl);
    clear_errors();
    uw_tls_context_release(tls->context);
    uw_tls_peer_free(&tls->peer);
    uw_tls_handshake_queue_remove(&tls->queued_handshake);
    free_deferred(tls);
    free(tls->carrier.in_flight);
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
    .receive = start_receiving,
    .pause = pause_endpoint,
    .holds_bytes = holds_bytes,
    .send = send_chunks,
    .progress = send_progress,
    .shut = shut_sending,
    .close = close_endpoint,
    .release = release_endpoint,
};
