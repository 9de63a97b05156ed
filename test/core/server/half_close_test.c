/* A client that has sent its last byte gets its answer, and then the connection ends: there is nothing to wait for. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "io/backend.h"
#include "loopback_sockets.h"
#include "server/server.h"

#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define LONG_NS (60 * UW_NS_PER_SECOND)

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 100,
    .body_memory_bytes_max = 100,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};
static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n";

static struct uw_server server;
static struct uw_request *asked;

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    CHECK_EQUAL(UW_EVENT_REQUEST, event);
    asked = request;
}

static void hand_over(const char *text, size_t length, unsigned flags)
{
    struct uw_chunk *chunk = uw_chunk_copy(text, length);

    CHECK(chunk != NULL);
    chunk->flags = flags;
    uw_request_send(asked, chunk);
}

static void turn_until_asked(void)
{
    for (int i = 0; i < TURNS_MAX && !asked; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK(asked != NULL);
}

/* The answer has reached the client, and nothing is on its way any more. */
static void turn_until_received(int client)
{
    char bytes[sizeof answer];

    for (int i = 0; i < TURNS_MAX && recv(client, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT) < 0; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(sizeof answer - 1, recv(client, bytes, sizeof bytes, MSG_DONTWAIT));
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
}

/* As a body that streams does: that it has come to its end is known only after its last piece was sent. */
static void answer_in_two_turns(const char *backend, const char *requests)
{
    int listener = listen_on_loopback(), client;
    char byte;

    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_to(listener);
    CHECK_EQUAL(strlen(requests), send(client, requests, strlen(requests), 0));
    CHECK_EQUAL(0, shutdown(client, SHUT_WR));
    asked = NULL;
    turn_until_asked();
    hand_over(answer, sizeof answer - 1, 0);
    turn_until_received(client);
    hand_over("", 0, UW_CHUNK_FINISH);
    for (int i = 0; i < TURNS_MAX && uw_server_connections(&server); i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(0, uw_server_connections(&server));
    CHECK_EQUAL(0, recv(client, &byte, 1, MSG_DONTWAIT));
    uw_server_close(&server);
    close(client);
    close(listener);
}

TEST(the_end_of_an_answer_without_bytes_ends_the_connection)
{
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            answer_in_two_turns(uw_backends[i]->name, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(so_it_does_before_a_request_that_never_comes_in_full)
{
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            answer_in_two_turns(uw_backends[i]->name, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT");
}

#define PIECE_BYTES (64 * 1024)
#define PIECES 128
#define TURNS_WITHOUT_READING 1000

/* More than fits into the sockets, so that sending waits for the client, twice: the second request is pipelined. */
static void answer_largely(const char *backend)
{
    static const char requests[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    static char bytes[PIECE_BYTES];
    int listener = listen_on_loopback(), client;
    size_t count = 0;
    ssize_t got = -1;

    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_to(listener);
    CHECK_EQUAL(sizeof requests - 1, send(client, requests, sizeof requests - 1, 0));
    CHECK_EQUAL(0, shutdown(client, SHUT_WR));
    asked = NULL;
    for (int i = 0; i < 10 * TURNS_MAX && got; i++) {
        if (asked) {
            for (size_t piece = 1; piece <= PIECES; piece++)
                hand_over(bytes, sizeof bytes, piece == PIECES ? UW_CHUNK_FINISH : 0);
            asked = NULL;
        }
        CHECK_EQUAL(0, uw_server_turn(&server, i < TURNS_WITHOUT_READING ? 0 : TURN_NS));
        if (i < TURNS_WITHOUT_READING)
            continue;
        while ((got = recv(client, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            count += (size_t)got;
        if (got < 0)
            CHECK_EQUAL(EAGAIN, errno);
    }
    CHECK_EQUAL(0, got);
    CHECK_EQUAL(2 * PIECES * sizeof bytes, count);
    uw_server_close(&server);
    close(client);
    close(listener);
}

TEST(large_answers_come_in_full)
{
    on_each_backend(answer_largely);
}

TEST_MAIN
