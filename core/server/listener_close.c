#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fd_limit.h"
#include "base/system.h"
#include "io/accept_errors.h"
#include "server/server.h"

#define HANDSHAKE_NS (20 * UW_NS_PER_MS) /* for all that are under way */

static bool is_tcp(const struct uw_listener *listener)
{
    return listener->port > 0;
}

/* Some systems say of a socket that listens no more that its client has gone, for ever. */
static int accept_next(int fd)
{
    int client, missed = 0;

    do
        client = uw_accept(fd);
    while (client < 0 && (errno == EINTR || (uw_accept_missed_one(errno) && ++missed < UW_BACKLOG_MAX)));
    return client;
}

/* Whether a TCP handshake may have ended that was under way when the kernel began to drop new clients. */
static bool another_comes(const struct uw_listener *listener, int64_t until_ns)
{
    struct pollfd polled = {.fd = listener->accept.fd, .events = POLLIN};
    int64_t left_ns = until_ns - uw_clock_ns();
    int came;

    if (!is_tcp(listener) || left_ns <= 0)
        return false;
    came = poll(&polled, 1, (int)(left_ns / UW_NS_PER_MS) + 1);
    return came > 0 || (came < 0 && errno == EINTR);
}

/* Returns the next client, or -1. Another process may have accepted the waiting client. */
static int accept_last(const struct uw_listener *listener, int64_t until_ns)
{
    int client;

    do
        client = accept_next(listener->accept.fd);
    while (client < 0 && errno == EAGAIN && another_comes(listener, until_ns));
    return client;
}

static int limit_waiting(int fd, const struct timeval *limit)
{
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof *limit);
}

/* Errors of accept(2) that may end once other clients have closed. */
static bool lacks_room(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Accepts beyond connections_max, too, since no other process will accept these clients. accept(2) must not block, even
 * on a blocking socket. Returns whether clients may remain that the system has no resources for. */
static bool accept_waiting(struct uw_listener *listener, int64_t until_ns)
{
    static const struct timeval least = {.tv_usec = 1}, none = {0};
    size_t connections_max = listener->server->server_context.settings.connections_max;
    int fd = listener->accept.fd, client = 0;

    if (limit_waiting(fd, &least))
        return false;
    for (size_t i = 0; client >= 0 && (i < connections_max || !uw_fd_limit_is_near(client)); i++) {
        client = accept_last(listener, until_ns);
        if (client >= 0) {
            (void)limit_waiting(client, &none); /* it may have inherited that; fails when the client has gone */
            uw_server_post_accepted(listener, client);
        }
    }
    return client < 0 && lacks_room(errno);
}

/* shutdown(2) of a listening TCP socket drops its backlog. A client that connects between the last accept and that end
 * would be dropped. So the kernel first ignores new clients, and refuses them later. A UNIX socket keeps its backlog,
 * and other processes with the socket may accept from it. */
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
    bool left = false;

    for (int i = 0; i < server->listener_count; i++)
        refuse_new_clients(&server->listeners[i]);
    for (int i = 0; i < server->listener_count; i++) {
        struct uw_listener *listener = &server->listeners[i];

        if (accept_waiting(listener, until_ns))
            left = true;
        else if (is_tcp(listener))
            (void)shutdown(listener->accept.fd, SHUT_RD); /* fails when another process did so before */
    }
    atomic_store(&server->some_left, left);
}
