/* A child process that the application has forked has every client's descriptor, too: what the server ends is over. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "io/backend.h"
#include "loopback_sockets.h"
#include "server/server.h"

#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define PATIENCE_SECONDS 20
#define ROOM 3
#define CLIENTS 5 /* idle, in a head, answered; and two that wait for a connection */

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = ROOM,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};
static const char *const requests[ROOM] = {"", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"};

static struct uw_server server;

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context, (void)request, (void)event;
}

static void connect_all(int listener, int *clients)
{
    for (int i = 0; i < CLIENTS; i++) {
        const char *request = i < ROOM ? requests[i] : "";

        clients[i] = connect_to(listener);
        CHECK_EQUAL(strlen(request), send(clients[i], request, strlen(request), 0));
    }
}

static void turn_until_all_are_served(void)
{
    uw_server_close_listeners(&server); /* which accepts clients beyond the limit */
    for (int i = 0; i < TURNS_MAX && !(server.server_context.counts.requests && uw_server_is_full(&server)); i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(1, server.server_context.counts.requests);
    CHECK_EQUAL(ROOM, server.server_context.counts.accepted);
    CHECK(!uw_list_empty(&server.waiting));
}

/* Stays until it is killed, or `stay` is closed. */
static pid_t fork_child(int *stay)
{
    char byte;
    int ends[2];
    pid_t child;

    CHECK_EQUAL(0, pipe(ends));
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    CHECK(child > 0);
    close(ends[0]);
    *stay = ends[1];
    return child;
}

/* Its answer is not complete: that is told by a reset. */
static void check_told(int client, bool answered)
{
    static const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    char byte;

    CHECK_EQUAL(0, setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    CHECK_EQUAL(answered ? -1 : 0, recv(client, &byte, 1, 0));
    if (answered)
        CHECK_EQUAL(ECONNRESET, errno);
}

/* Where it is left open, it is so until the process ends; clients that wait for a connection have been refused before.
 */
static void server_ends(const char *backend, bool left_open)
{
    int listener = listen_on_loopback(), clients[CLIENTS], stay, status;
    pid_t child;

    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    connect_all(listener, clients);
    turn_until_all_are_served();
    child = fork_child(&stay);
    if (left_open)
        uw_server_end_connections(&server);
    else
        uw_server_close(&server);
    for (int i = 0; i < (left_open ? ROOM : CLIENTS); i++)
        check_told(clients[i], i == ROOM - 1);
    if (left_open)
        uw_server_close(&server);
    CHECK_EQUAL(0, kill(child, SIGKILL)); /* so that valgrind does not look for leaks in it */
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status)); /* it stayed */
    close(stay);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    close(listener);
}

TEST(every_client_of_a_server_that_ends_is_told_though_a_forked_child_stays)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int left_open = 0; left_open < 2 && !uw_backend_probe(uw_backends[i]); left_open++)
            server_ends(uw_backends[i]->name, left_open);
}

TEST_MAIN
