/* A client that sends far ahead of its answers. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "http1/http1.h"
#include "io/backend.h"
#include "loopback_sockets.h"
#include "server/server.h"

#define REQUEST_BYTES 1000
#define REQUESTS 20000
#define ANSWERS_PER_TURN 10 /* less than comes in a turn */
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define BURST_BYTES (4 * UW_RECEIVE_BYTES_MAX) /* sent at once: valgrind looks at all that a send could take */
#define BUFFER_BYTES 65536
#define AFTERWARDS_BYTES (20 * BUFFER_BYTES) /* more than the kernel keeps then */
#define PATIENCE_NS (20 * UW_NS_PER_SECOND)

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = REQUEST_BYTES,
    .body_memory_bytes_max = REQUEST_BYTES,
    .connections_max = 10,
    .head_timeout_ns = UW_FOREVER / 4,
    .body_timeout_ns = UW_FOREVER / 4,
    .keep_alive_timeout_ns = UW_FOREVER / 4,
    .write_timeout_ns = UW_FOREVER / 4,
};

static struct uw_server server;
static struct uw_request *waiting;
static char text[REQUESTS * REQUEST_BYTES];
static int answered;

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    CHECK(event == UW_EVENT_REQUEST && !waiting);
    waiting = request;
}

/* Each carries its number, and content that fills it up. */
static void write_requests(void)
{
    static const char head[] = "POST /%06d HTTP/1.1\r\nHost: a\r\nContent-Length: %3d\r\n\r\n";
    int length = snprintf(NULL, 0, head, 0, 0);

    memset(text, 'b', sizeof text);
    for (int i = 0; i < REQUESTS; i++) {
        char *at = text + (size_t)i * REQUEST_BYTES;

        snprintf(at, REQUEST_BYTES, head, i, REQUEST_BYTES - length);
        at[length] = 'b';
    }
}

static void answer(void)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct uw_request *request = waiting;
    struct uw_chunk *chunk = uw_chunk_copy(ok, sizeof ok - 1);
    char target[16];

    snprintf(target, sizeof target, "/%06d", answered++);
    CHECK(!memcmp(uw_request_text(request, request->head.target), target, strlen(target)));
    waiting = NULL;
    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static size_t pending(void)
{
    return uw_list_empty(&server.server_context.all)
               ? 0
               : uw_http1_of(uw_container_of(server.server_context.all.next, struct uw_connection, link))
                     ->pending.length;
}

static size_t sent, to_send;

static size_t send_more(int client)
{
    size_t left = to_send - sent;
    ssize_t count = send(client, text + sent, left < BURST_BYTES ? left : BURST_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);

    CHECK(count >= 0 || errno == EAGAIN);
    return count > 0 ? (size_t)count : 0;
}

static void drop_answers(int client)
{
    char bytes[65536];

    while (recv(client, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static void turn(int client)
{
    sent += send_more(client);
    drop_answers(client);
    CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
}

static void answer_some(void)
{
    for (int i = 0; i < ANSWERS_PER_TURN && waiting; i++) {
        answer();
        uw_server_flush(&server); /* which brings the next */
    }
}

/* The client sends as fast as it can, and has sent too much when it gets its first answers. From when they have used up
 * what was too much, less is kept of it than the bound; and every request is answered in its turn. */
static void flood(int client)
{
    size_t most = 0;

    while (pending() < UW_PENDING_BYTES_MAX && sent < sizeof text)
        turn(client);
    CHECK(pending() >= UW_PENDING_BYTES_MAX);
    while (pending() >= UW_PENDING_BYTES_MAX) {
        turn(client);
        answer_some();
    }
    for (int turns = 0; answered < REQUESTS && turns < REQUESTS; turns++) {
        turn(client);
        most = pending() > most ? pending() : most;
        answer_some();
    }
    CHECK_EQUAL(REQUESTS, answered);
    CHECK(most >= UW_PENDING_BYTES_MAX && most < UW_PENDING_BYTES_MAX + UW_RECEIVE_BYTES_MAX);
}

static struct uw_connection *first_connection(void)
{
    return uw_container_of(server.server_context.all.next, struct uw_connection, link);
}

static void finish(struct uw_chunk *chunk)
{
    struct uw_request *request = waiting;

    waiting = NULL;
    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_CLOSE;
    uw_request_send(request, chunk);
    uw_server_flush(&server);
}

/* The client reads nothing before it has sent everything, and then the whole answer, and an end in order. */
static void check_is_heard_out(int client, size_t answer_bytes)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;
    size_t got = 0;
    ssize_t count = -1;

    to_send = sent + AFTERWARDS_BYTES;
    while (sent < to_send && uw_clock_ns() < deadline_ns) {
        sent += send_more(client);
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    }
    CHECK_EQUAL(to_send, sent);
    CHECK_EQUAL(0, shutdown(client, SHUT_WR));
    while (count != 0 && uw_clock_ns() < deadline_ns) {
        char bytes[65536];

        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
        count = recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
        CHECK(count >= 0 || errno == EAGAIN);
        got += count > 0 ? (size_t)count : 0;
    }
    CHECK(count == 0 && got == answer_bytes);
}

static void shorten_buffers(int client)
{
    int bytes = BUFFER_BYTES;

    while (uw_list_empty(&server.server_context.all))
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(0, setsockopt(client, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes));
    CHECK_EQUAL(0, setsockopt(first_connection()->endpoint.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

static void send_too_much(int client)
{
    shorten_buffers(client);
    while (pending() < UW_PENDING_BYTES_MAX && sent < sizeof text)
        turn(client);
    CHECK(first_connection()->paused);
}

/* io_uring has been asked not to receive more, and has not answered yet. */
static void end_while_pausing(int client)
{
    send_too_much(client);
    CHECK_EQUAL(strncmp(server.server_context.loop.backend->name, "io_uring", 8) == 0, first_connection()->receiving);
    finish(uw_chunk_copy("", 0));
    CHECK_EQUAL(UW_CONNECTION_LINGERING, first_connection()->state);
    uw_connection_await_read(first_connection(), UW_FOREVER); /* this machine may take longer than UW_LINGER_NS */
    check_is_heard_out(client, 0);
}

/* With more than the client takes before it has sent everything. */
static void end_while_paused(int client)
{
    send_too_much(client);
    while (first_connection()->receiving)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    finish(uw_chunk_copy(text, sizeof text));
    check_is_heard_out(client, sizeof text);
}

static void serve(const char *backend, void (*play)(int client))
{
    int listener = listen_on_loopback(), client;

    answered = 0;
    sent = 0;
    to_send = sizeof text;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_to(listener);
    play(client);
    close(client);
    uw_server_close(&server);
    close(listener);
}

static void serve_on_each_backend(void (*play)(int client))
{
    write_requests();
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            serve(uw_backends[i]->name, play);
}

TEST(what_a_client_sends_ahead_is_kept_within_bounds_and_answered_in_turn)
{
    serve_on_each_backend(flood);
}

TEST(a_client_that_was_not_received_from_any_more_is_heard_out_at_the_end)
{
    serve_on_each_backend(end_while_pausing);
    serve_on_each_backend(end_while_paused);
}

TEST_MAIN
