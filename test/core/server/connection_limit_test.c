/* A server with as many connections as it may have: an idle one is closed for a new client. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "io/backend.h"
#include "loopback_sockets.h"
#include "server/connection.h"
#include "server/server.h"

#define TURNS_MAX 500
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define ROOM 3
#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define ANSWER "HTTP/1.1 204 No Content\r\n\r\n"

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = ROOM,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};

static struct uw_server server;
static struct uw_request *held; /* the request that is not answered yet */
static bool holds;

static void answer(struct uw_request *request)
{
    struct uw_chunk *chunk = uw_chunk_copy(ANSWER, strlen(ANSWER));

    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context, (void)event;
    if (holds)
        held = request;
    else
        answer(request);
}

static bool is_readable(int fd)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};

    return poll(&item, 1, 0) == 1;
}

static void turn_until_readable(int fd)
{
    for (int i = 0; i < TURNS_MAX && !is_readable(fd); i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK(is_readable(fd));
}

static void write_to(int client, const char *text)
{
    CHECK_EQUAL(strlen(text), send(client, text, strlen(text), 0));
}

static void expect_answer(int client)
{
    char bytes[256];

    turn_until_readable(client);
    CHECK_EQUAL(strlen(ANSWER), recv(client, bytes, sizeof bytes, 0));
}

static void expect_end(int client)
{
    char byte;

    turn_until_readable(client);
    CHECK_EQUAL(0, recv(client, &byte, 1, 0));
}

static int come(int listener)
{
    int client = connect_to(listener);

    write_to(client, REQUEST);
    return client;
}

/* Clients that have been served, one after another, and stay. */
static int open_full_server(const char *backend, int *clients)
{
    int listener = listen_on_loopback();

    holds = false;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    for (int i = 0; i < ROOM; i++) {
        clients[i] = come(listener);
        expect_answer(clients[i]);
    }
    CHECK_EQUAL(ROOM, uw_server_connections(&server));
    return listener;
}

static void close_all(int listener, const int *clients, int count)
{
    uw_server_close(&server);
    close(listener);
    for (int i = 0; i < count; i++)
        close(clients[i]);
}

static void the_longest_idle_is_closed(const char *backend)
{
    int clients[ROOM + 2], listener = open_full_server(backend, clients);

    write_to(clients[0], REQUEST); /* from now on the second has been idle for longest */
    expect_answer(clients[0]);
    for (int i = ROOM; i < ROOM + 2; i++) {
        clients[i] = come(listener);
        expect_answer(clients[i]);
        expect_end(clients[i - ROOM + 1]);
        CHECK_EQUAL(ROOM, uw_server_connections(&server));
    }
    write_to(clients[0], REQUEST);
    expect_answer(clients[0]);
    CHECK_EQUAL(0, server.server_context.yielding);
    close_all(listener, clients, ROOM + 2);
}

/* They may not have been looked at yet. */
static void one_with_the_first_bytes_of_a_request_stays(const char *backend)
{
    int clients[ROOM + 1], listener = open_full_server(backend, clients);

    clients[ROOM] = come(listener);
    write_to(clients[0], "G");
    expect_answer(clients[ROOM]);
    expect_end(clients[1]);
    write_to(clients[0], &REQUEST[1]);
    expect_answer(clients[0]);
    close_all(listener, clients, ROOM + 1);
}

static void bytes_that_come_as_it_yields_are_not_lost(const char *backend)
{
    int clients[ROOM], listener = open_full_server(backend, clients);

    uw_connection_yield(uw_container_of(server.server_context.idle.next, struct uw_connection, idle));
    write_to(clients[0], REQUEST);
    expect_answer(clients[0]);
    CHECK_EQUAL(0, server.server_context.yielding);
    close_all(listener, clients, ROOM);
}

static void where_none_is_idle_newcomers_wait(const char *backend)
{
    int clients[ROOM + 1], listener = open_full_server(backend, clients);

    holds = true;
    write_to(clients[0], REQUEST);
    write_to(clients[1], "G");
    write_to(clients[2], "G");
    for (int i = 0; i < TURNS_MAX && (!held || !uw_list_empty(&server.server_context.idle)); i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    clients[ROOM] = come(listener);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK(!is_readable(clients[ROOM]));
    holds = false;
    answer(held);
    expect_answer(clients[0]);
    expect_answer(clients[ROOM]);
    expect_end(clients[0]);
    close_all(listener, clients, ROOM + 1);
}

static void one_that_never_asked_is_closed(const char *backend)
{
    int clients[ROOM + 1], listener = listen_on_loopback();

    holds = false;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    for (int i = 0; i < ROOM; i++)
        clients[i] = connect_to(listener);
    for (int i = 0; i < TURNS_MAX && uw_server_connections(&server) < ROOM; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    clients[ROOM] = come(listener);
    for (int64_t began_ns = uw_clock_ns(); !is_readable(clients[ROOM]) && uw_clock_ns() < began_ns + LONG_NS;)
        CHECK_EQUAL(0, uw_server_turn(&server, LONG_NS));
    expect_answer(clients[ROOM]);
    expect_end(clients[0]);
    close_all(listener, clients, ROOM + 1);
}

#define ON_EACH_BACKEND(name) \
    TEST(name##_on_each_backend) \
    { \
        on_each_backend(name); \
    }

ON_EACH_BACKEND(the_longest_idle_is_closed)
ON_EACH_BACKEND(one_with_the_first_bytes_of_a_request_stays)
ON_EACH_BACKEND(bytes_that_come_as_it_yields_are_not_lost)
ON_EACH_BACKEND(where_none_is_idle_newcomers_wait)
/* Time passes alike on all of them. */
TEST(one_that_never_asked_is_closed_once_it_had_time_to)
{
    one_that_never_asked_is_closed("poll");
}

TEST_MAIN
