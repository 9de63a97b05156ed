#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/wait.h>

#include "seccomp_faults.h"
#endif

#include "check.h"
#include "composition/composition.h"
#include "io/backend.h"
#include "loopback_sockets.h"
#include "server/connection.h"
#include "server/server.h"

#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define PATIENCE_SECONDS 60
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define ROUNDS 50
#define SIGNALS 4
#define SIGNAL_PAUSE_US 1000
#define MOMENTS 6 /* turns of a server that drains after which a client comes */

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};

static struct uw_server one, successor;

static void open_server(struct uw_server *server, const char *backend, int listener)
{
    CHECK_EQUAL(0, uw_server_open(server, &uw_composition, &settings, backend, (struct uw_handler){0}));
    CHECK_EQUAL(0, uw_server_listen(server, listener));
    CHECK_EQUAL(0, uw_server_turn(server, 0));
}

/* The client says nothing: a server that drains is done with it at once. */
static void a_client_comes_after(int turns, const char *backend)
{
    int listener = listen_on_loopback(), client;

    open_server(&one, backend, listener);
    open_server(&successor, backend, listener);
    uw_server_drain(&one);
    for (int i = 0; i < turns; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    client = connect_to(listener);
    for (int i = 0; i < TURNS_MAX && !uw_server_drained(&one); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK(uw_server_drained(&one));
    for (int i = 0; i < TURNS_MAX && one.server_context.counts.accepted + successor.server_context.counts.accepted == 0;
         i++)
        CHECK_EQUAL(0, uw_server_turn(&successor, TURN_NS));
    CHECK_EQUAL(1, one.server_context.counts.accepted + successor.server_context.counts.accepted);
    close(client);
    uw_server_close(&one);
    uw_server_close(&successor);
    close(listener);
}

TEST(no_client_is_lost_between_a_server_that_drains_and_its_successor)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int turns = 0; turns < MOMENTS && !uw_backend_probe(uw_backends[i]); turns++)
            a_client_comes_after(turns, uw_backends[i]->name);
}

/* It came after the loop had looked, and before the connection is closed as an idle one. */
TEST(a_request_in_the_socket_keeps_its_connection)
{
    static const char request[] = "GET / HTTP/1.1\r\n";
    int listener = listen_on_loopback(), client;
    struct uw_connection *connection;

    open_server(&one, "poll", listener);
    client = connect_to(listener);
    for (int i = 0; i < TURNS_MAX && uw_server_connections(&one) == 0; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(0, uw_server_turn(&one, 0));
    connection = uw_container_of(one.server_context.all.next, struct uw_connection, link);
    CHECK_EQUAL((int)sizeof request - 1, send(client, request, sizeof request - 1, MSG_NOSIGNAL));
    connection->protocol->timed_out(connection);
    CHECK(uw_connection_is_open(connection));
    for (int i = 0; i < TURNS_MAX && one.server_context.requests.taken == 0; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(1, one.server_context.requests.taken);
    close(client);
    uw_server_close(&one);
    close(listener);
}

static void check_refused(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(-1, connect(fd, (const struct sockaddr *)address, sizeof *address));
    CHECK_EQUAL(ECONNREFUSED, errno);
    close(fd);
}

/* Between the turns of the loop, which may be long. */
static void listening_ends(const char *backend, bool drains)
{
    int listener = listen_on_loopback(), clients[MOMENTS];
    struct sockaddr_in address = address_of(listener);

    open_server(&one, backend, listener);
    for (int i = 0; i < MOMENTS; i++)
        clients[i] = connect_to(listener);
    uw_server_close_listeners(&one);
    check_refused(&address);
    if (drains)
        uw_server_drain(&one);
    for (int i = 0; i < TURNS_MAX && drains && !uw_server_drained(&one); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(drains ? MOMENTS : 0, one.server_context.counts.accepted);
    for (int i = 0; i < MOMENTS; i++)
        close(clients[i]);
    uw_server_close(&one);
    close(listener);
}

TEST(who_is_connected_when_listening_ends_is_taken_in_and_others_are_refused)
{
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            listening_ends(uw_backends[i]->name, true);
}

static void nothing(int number)
{
    (void)number;
}

struct late_client {
    pthread_t server;
    int fd;
};

/* Sends signals to whoever waits for it first. */
static void *complete_handshake(void *argument)
{
    const struct late_client *client = argument;

    for (int i = 0; i < SIGNALS; i++) {
        (void)usleep(SIGNAL_PAUSE_US);
        CHECK_EQUAL(0, pthread_kill(client->server, SIGUSR1));
    }
    (void)send(client->fd, "G", 1, MSG_NOSIGNAL); /* fails when it comes too late */
    return NULL;
}

/* Whose handshake is completed by its first byte. */
static bool is_served_who_comes_after_signals(void)
{
    int listener = listen_on_loopback(), seconds = 1;
    struct late_client client = {.server = pthread_self()};
    pthread_t thread;
    bool served;

    CHECK_EQUAL(0, setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds));
    open_server(&one, "poll", listener);
    client.fd = connect_to(listener);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, complete_handshake, &client));
    uw_server_close_listeners(&one);
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    CHECK_EQUAL(0, uw_server_turn(&one, 0));
    served = one.server_context.counts.accepted == 1;
    close(client.fd);
    uw_server_close(&one);
    close(listener);
    return served;
}

/* In one round of many: where the machine is busy, the client comes too late. */
TEST(a_signal_does_not_end_the_wait_for_handshakes_when_listening_ends)
{
    struct sigaction before, action = {.sa_handler = nothing};
    int served = 0;

    CHECK_EQUAL(0, sigaction(SIGUSR1, &action, &before));
    for (int i = 0; i < ROUNDS && !served; i++)
        served += is_served_who_comes_after_signals();
    CHECK_EQUAL(1, served);
    CHECK_EQUAL(0, sigaction(SIGUSR1, &before, NULL));
}

static atomic_bool ended;

/* As loops of other processes do. */
static void *have_it_block(void *listener)
{
    while (!atomic_load(&ended)) {
        if (fcntl(*(int *)listener, F_SETFL, 0) < 0)
            abort();
        (void)usleep(1); /* valgrind has one thread run at a time, and this one would */
    }
    return NULL;
}

TEST(nobody_waits_for_a_client_when_listening_ends)
{
    alarm(PATIENCE_SECONDS);
    for (int i = 0; i < ROUNDS; i++) {
        int listener = listen_on_loopback();
        pthread_t other;

        open_server(&one, "poll", listener);
        atomic_store(&ended, false);
        CHECK_EQUAL(0, pthread_create(&other, NULL, have_it_block, &listener));
        uw_server_close_listeners(&one);
        atomic_store(&ended, true);
        CHECK_EQUAL(0, pthread_join(other, NULL));
        uw_server_close(&one);
        close(listener);
    }
    alarm(0);
}

/* In the backlog, where a successor finds them. */
static void who_comes_beyond_connections_max_waits(const char *backend)
{
    int listener = listen_on_loopback(), clients[MOMENTS];

    CHECK_EQUAL(0, uw_server_open(&one, &uw_composition, &settings, backend, (struct uw_handler){0}));
    one.server_context.settings.connections_max = one.capacity = 2;
    CHECK_EQUAL(0, uw_server_listen(&one, listener));
    for (int i = 0; i < MOMENTS; i++)
        clients[i] = connect_to(listener);
    for (int i = 0; i < MOMENTS || (i < TURNS_MAX && uw_server_connections(&one) < 2); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, i < MOMENTS ? 0 : TURN_NS));
    CHECK_EQUAL(2, uw_server_connections(&one));
    uw_server_close(&one);
    open_server(&successor, backend, listener);
    for (int i = 0; i < TURNS_MAX && successor.server_context.counts.accepted < MOMENTS - 2; i++)
        CHECK_EQUAL(0, uw_server_turn(&successor, TURN_NS));
    CHECK_EQUAL(MOMENTS - 2, successor.server_context.counts.accepted);
    for (int i = 0; i < MOMENTS; i++)
        close(clients[i]);
    uw_server_close(&successor);
    close(listener);
}

/* The service manager keeps the socket: its next clients wait for the next server. */
static void an_inherited_socket_listens_on(const char *backend)
{
    int listener = listen_on_loopback(), client;

    CHECK_EQUAL(0, uw_server_open(&one, &uw_composition, &settings, backend, (struct uw_handler){0}));
    CHECK_EQUAL(0, uw_server_listen_inherited(&one, listener, NULL));
    CHECK_EQUAL(0, uw_server_turn(&one, 0));
    uw_server_close_listeners(&one);
    uw_server_drain(&one);
    for (int i = 0; i < TURNS_MAX && !uw_server_drained(&one); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    uw_server_close(&one);
    client = connect_to(listener);
    open_server(&successor, backend, listener);
    for (int i = 0; i < TURNS_MAX && successor.server_context.counts.accepted == 0; i++)
        CHECK_EQUAL(0, uw_server_turn(&successor, TURN_NS));
    CHECK_EQUAL(1, successor.server_context.counts.accepted);
    close(client);
    uw_server_close(&successor);
    close(listener);
}

/* Also before the server has looked for clients, or while it was full. */
static void a_server_that_drains_leaves_the_backlog(const char *backend, size_t connections_max)
{
    int listener = listen_on_loopback(), clients[MOMENTS];

    CHECK_EQUAL(0, uw_server_open(&one, &uw_composition, &settings, backend, (struct uw_handler){0}));
    one.capacity = connections_max;
    CHECK_EQUAL(0, uw_server_listen_inherited(&one, listener, NULL));
    for (int i = 0; i < MOMENTS; i++)
        clients[i] = connect_to(listener);
    uw_server_close_listeners(&one);
    uw_server_drain(&one);
    for (int i = 0; i < TURNS_MAX && !uw_server_drained(&one); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK(uw_server_drained(&one));
    CHECK_EQUAL(0, one.server_context.counts.accepted);
    uw_server_close(&one);
    open_server(&successor, backend, listener);
    for (int i = 0; i < TURNS_MAX && successor.server_context.counts.accepted < MOMENTS; i++)
        CHECK_EQUAL(0, uw_server_turn(&successor, TURN_NS));
    CHECK_EQUAL(MOMENTS, successor.server_context.counts.accepted);
    for (int i = 0; i < MOMENTS; i++)
        close(clients[i]);
    uw_server_close(&successor);
    close(listener);
}

TEST(a_server_that_drains_leaves_the_backlog_of_an_inherited_socket_to_the_next)
{
    for (int i = 0; uw_backends[i]; i++)
        for (size_t room = 0; room < 2 && !uw_backend_probe(uw_backends[i]); room++)
            a_server_that_drains_leaves_the_backlog(uw_backends[i]->name, room * settings.connections_max);
}

TEST(an_inherited_socket_listens_beyond_the_end_of_the_server)
{
    on_each_backend(an_inherited_socket_listens_on);
}

#ifdef __linux__
/* As some systems have it of a socket that another process has shut down. */
TEST(who_is_told_for_ever_that_clients_have_gone_ends_to_listen)
{
    int listener = listen_on_loopback(), status;
    pid_t child;

    if (!can_make_calls_fail())
        SKIP(CALLS_CANNOT_FAIL);
    child = fork();
    if (child == 0) {
        alarm(PATIENCE_SECONDS);
        open_server(&one, "poll", listener);
        CHECK(make_calls_fail(SYS_accept, SYS_accept4, ECONNABORTED));
        uw_server_close_listeners(&one);
        _exit(0);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(listener);
}
#endif

TEST(who_comes_beyond_connections_max_waits_in_the_backlog)
{
    on_each_backend(who_comes_beyond_connections_max_waits);
}

/* More than the limit: they wait until connections end, or the server is closed. */
static void more_come_than_there_is_room_for(const char *backend, bool drains)
{
    int listener = listen_on_loopback(), clients[MOMENTS];
    char byte;

    open_server(&one, backend, listener);
    one.server_context.settings.connections_max = one.capacity = 2;
    for (int i = 0; i < MOMENTS; i++)
        clients[i] = connect_to(listener);
    uw_server_close_listeners(&one);
    uw_server_drain(&one);
    CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(2, uw_server_connections(&one));
    for (int i = 0; i < MOMENTS; i++)
        CHECK_EQUAL(0, shutdown(clients[i], SHUT_WR));
    for (int i = 0; i < TURNS_MAX && drains && !uw_server_drained(&one); i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(drains ? MOMENTS : 2, one.server_context.counts.accepted);
    CHECK_EQUAL(drains, uw_server_drained(&one));
    uw_server_close(&one);
    for (int i = 0; i < MOMENTS; i++) {
        CHECK_EQUAL(0, recv(clients[i], &byte, 1, 0));
        close(clients[i]);
    }
    close(listener);
}

TEST(who_is_connected_when_listening_ends_waits_for_room)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int drains = 0; drains < 2 && !uw_backend_probe(uw_backends[i]); drains++)
            more_come_than_there_is_room_for(uw_backends[i]->name, drains);
}

/* Until then, until it is told to begin earlier, or until it drains. */
static void nobody_is_accepted_before(const char *backend, bool drains)
{
    int listener = listen_on_loopback(), client;

    CHECK_EQUAL(0, uw_server_open(&one, &uw_composition, &settings, backend, (struct uw_handler){0}));
    uw_server_accept_from(&one, uw_clock_ns() + PATIENCE_SECONDS * UW_NS_PER_SECOND);
    CHECK_EQUAL(0, uw_server_listen(&one, listener));
    client = connect_to(listener);
    for (int i = 0; i < MOMENTS; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(0, one.server_context.counts.accepted);
    if (drains)
        uw_server_drain(&one);
    else
        uw_server_accept_from(&one, 0);
    for (int i = 0; i < TURNS_MAX && one.server_context.counts.accepted == 0; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    CHECK_EQUAL(1, one.server_context.counts.accepted);
    CHECK_EQUAL(settings.connections_max, one.capacity);
    close(client);
    uw_server_close(&one);
    close(listener);
}

TEST(a_server_that_accepts_later)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int drains = 0; drains < 2 && !uw_backend_probe(uw_backends[i]); drains++)
            nobody_is_accepted_before(uw_backends[i]->name, drains);
}

static void check_told(int client)
{
    static const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    char byte;

    CHECK_EQUAL(0, setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    CHECK(recv(client, &byte, 1, 0) == 0 || errno == ECONNRESET);
}

/* Wherever it is then, in the backlog too, once nobody listens. */
static void is_closed_after_a_client_came(int turns, const char *backend)
{
    int listener = listen_on_loopback(), client;

    open_server(&one, backend, listener);
    uw_server_drain(&one);
    for (int i = 0; i < turns; i++)
        CHECK_EQUAL(0, uw_server_turn(&one, TURN_NS));
    client = connect_to(listener);
    CHECK_EQUAL(0, uw_server_turn(&one, 0));
    uw_server_close(&one);
    close(listener);
    check_told(client);
    close(client);
}

TEST(a_server_that_is_closed_while_it_drains_has_told_every_client)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int turns = 0; turns < MOMENTS && !uw_backend_probe(uw_backends[i]); turns++)
            is_closed_after_a_client_came(turns, uw_backends[i]->name);
}

TEST(a_server_that_is_closed_leaves_nobody_behind)
{
    for (int i = 0; uw_backends[i]; i++)
        if (!uw_backend_probe(uw_backends[i]))
            listening_ends(uw_backends[i]->name, false);
}

TEST_MAIN
