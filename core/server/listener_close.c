#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd_limit.h"
#include "base/system.h"
#include "io/accept_errors.h"
#include "server/server.h"

#define HANDSHAKE_NS (20 * UW_NS_PER_MS) /* time for TCP handshakes in progress, of all listeners together */

static bool is_tcp(const struct uw_listener *listener)
{
    return listener->port > 0;
}

/* Some systems report ECONNABORTED for ever once the socket no longer listens. */
static int accept_next(int fd)
{
    int client, aborted = 0;

    do
        client = uw_accept(fd);
    while (client < 0 && (errno == EINTR || (uw_accept_missed_one(errno) && ++aborted < UW_BACKLOG_MAX)));
    return client;
}

/* Waits for a client whose TCP handshake was in progress when the kernel began to ignore new clients. Returns false if
 * no client may come. */
static bool await_another_client(const struct uw_listener *listener, int64_t until_ns)
{
    struct pollfd polled = {.fd = listener->accept.fd, .events = POLLIN};
    int64_t left_ns = until_ns - uw_clock_ns();
    int ready;

    if (!is_tcp(listener) || left_ns <= 0)
        return false;
    ready = poll(&polled, 1, (int)(left_ns / UW_NS_PER_MS) + 1);
    return ready > 0 || (ready < 0 && errno == EINTR);
}

/* Returns the next client, or -1 with errno. Another process may accept a client first. */
static int accept_waiting_client(const struct uw_listener *listener, int64_t until_ns)
{
    int client;

    do
        client = accept_next(listener->accept.fd);
    while (client < 0 && errno == EAGAIN && await_another_client(listener, until_ns));
    return client;
}

static int set_receive_timeout(int fd, const struct timeval *limit)
{
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof *limit);
}

/* Errors of accept(2) that may disappear once other clients have closed. */
static bool out_of_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Accepts all waiting clients, also beyond connections_max, because no other process will accept them. accept(2) must
 * not block, even on a blocking socket. Returns true if the system lacked resources to accept all waiting clients. */
static bool accept_waiting_clients(struct uw_listener *listener, int64_t until_ns)
{
    static const struct timeval shortest = {.tv_usec = 1}, unlimited = {0};
    size_t connections_max = listener->server->server_context.settings.connections_max;
    int fd = listener->accept.fd, client = 0;

    if (set_receive_timeout(fd, &shortest))
        return false;
    for (size_t i = 0; client >= 0 && (i < connections_max || !uw_fd_limit_is_near(client)); i++) {
        client = accept_waiting_client(listener, until_ns);
        if (client >= 0) {
            /* Accepted sockets may inherit the time-out. Fails if the client has closed. */
            (void)set_receive_timeout(client, &unlimited);
            uw_server_post_accepted(listener, client);
        }
    }
    return client < 0 && out_of_resources(errno);
}

/* shutdown(2) of a listening TCP socket resets the clients in its backlog. A client that connects after the last accept
 * would be reset. So the kernel ignores new clients first, and refuses them only after shutdown(2). A UNIX socket keeps
 * its backlog after shutdown(2), and other processes may still accept from it. */
static void refuse_new_clients(const struct uw_listener *listener)
{
    if (is_tcp(listener))
        uw_drop_syns(listener->accept.fd);
    else
        (void)shutdown(listener->accept.fd, SHUT_RD);
}

void uw_server_close_listeners(struct uw_server *server)
{
    int64_t until_ns = uw_clock_ns() + HANDSHAKE_NS;
    bool clients_remain = false;

    atomic_store(&server->server_context.drain_announced, true);
    for (int i = 0; i < server->listener_count; i++)
        if (!server->listeners[i].inherited)
            refuse_new_clients(&server->listeners[i]);
    for (int i = 0; i < server->listener_count; i++) {
        struct uw_listener *listener = &server->listeners[i];

        if (listener->inherited)
            continue;
        if (accept_waiting_clients(listener, until_ns))
            clients_remain = true;
        else if (is_tcp(listener))
            (void)shutdown(listener->accept.fd, SHUT_RD); /* fails if another process has called shutdown(2) before */
    }
    atomic_store(&server->some_left, clients_remain);
}
