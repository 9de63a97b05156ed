#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/system.h"
#include "io/accept.h"
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

/* Whether the last packet of a TCP handshake may have arrived that was under way when clients were held off. */
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

/* The next client, or -1. Other processes may have accepted the one that came. */
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

/* Of accepting: what those who are served give back may mend it. */
static bool lacks_room(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Beyond connections_max, too, as nobody else will take them. Who finds nobody must not wait, even if no
 * backend has needed O_NONBLOCK. Returns whether somebody may be left for whom the system has no room. */
static bool accept_waiting(struct uw_listener *listener, int64_t until_ns)
{
    static const struct timeval least = {.tv_usec = 1}, none = {0};
    size_t connections_max = listener->server->service.settings.connections_max;
    int fd = listener->accept.fd, client = 0;

    if (limit_waiting(fd, &least))
        return false;
    for (size_t i = 0; client >= 0 && (i < connections_max || !uw_descriptors_are_short(client)); i++) {
        client = accept_last(listener, until_ns);
        if (client >= 0) {
            (void)limit_waiting(client, &none); /* it may have inherited that; fails when the client has gone */
            uw_server_bring(listener, client);
        }
    }
    return client < 0 && lacks_room(errno);
}

/* A TCP socket forgets those who wait to be accepted when it ends to listen, and whoever comes between the last of them
 * and that end would be connected, and lost: who comes now is held off, to be refused then. A UNIX socket keeps those
 * who wait when it ends to listen: others that have it may accept them, too. */
static void turn_back_newcomers(const struct uw_listener *listener)
{
    if (is_tcp(listener))
        uw_hold_off(listener->accept.fd);
    else
        (void)shutdown(listener->accept.fd, SHUT_RD);
}

void uw_server_end_listening(struct uw_server *server)
{
    int64_t until_ns = uw_clock_ns() + HANDSHAKE_NS;
    bool left = false;

    for (int i = 0; i < server->listener_count; i++)
        turn_back_newcomers(&server->listeners[i]);
    for (int i = 0; i < server->listener_count; i++) {
        struct uw_listener *listener = &server->listeners[i];

        if (accept_waiting(listener, until_ns))
            left = true;
        else if (is_tcp(listener))
            (void)shutdown(listener->accept.fd, SHUT_RD); /* fails when another process did so before */
    }
    atomic_store(&server->some_left, left);
}
