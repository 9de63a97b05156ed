#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#endif

#include "server/connection.h"

/* A client that the kernel had connected, on its way to the loop, and then until there is room for it. */
struct arrival {
    struct uw_message message;
    struct uw_list link; /* in server->waiting */
    struct uw_listener *listener;
    int fd;
};

/* Linux forgets those who wait to be accepted when a TCP socket ends to listen, and whoever comes between the last of
 * them and that end would be connected, and lost. The first packet of a client (SYN without ACK) is dropped instead:
 * it is sent again, and refused then. */
static void hold_off(int fd)
{
#ifdef SO_ATTACH_FILTER
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), /* of the TCP header: the flags */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};

    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter); /* without it: a reset, if ever */
#else
    (void)fd;
#endif
}

/* The list is not empty. */
static struct arrival take_first(struct uw_server *server)
{
    struct arrival *first = uw_owner(server->waiting.next, struct arrival, link), arrival = *first;

    uw_list_remove(&first->link);
    free(first);
    return arrival;
}

void uw_server_admit(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->loop);
    while (!uw_list_empty(&server->waiting) && uw_server_connections(server) < server->settings.connections_max) {
        struct arrival arrival = take_first(server);

        uw_connection_open(server, arrival.listener, arrival.fd);
    }
}

void uw_server_turn_away(struct uw_server *server)
{
    while (!uw_list_empty(&server->waiting))
        close(take_first(server).fd);
}

static void arrive(struct uw_loop *loop, struct uw_message *message)
{
    struct arrival *arrival = uw_owner(message, struct arrival, message);
    struct uw_server *server = uw_owner(loop, struct uw_server, loop);

    uw_list_append(&server->waiting, &arrival->link);
    if (server->ended)
        uw_server_turn_away(server);
    else
        uw_server_admit(server);
}

static void bring(struct uw_listener *listener, int fd)
{
    struct arrival *arrival = malloc(sizeof *arrival);

    if (!arrival) {
        close(fd);
        return;
    }
    *arrival = (struct arrival){.message = {.receive = arrive}, .listener = listener, .fd = fd};
    uw_loop_post(&listener->server->loop, &arrival->message);
}

static int accept_next(int fd)
{
    int client;

    do
        client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (client < 0 && (errno == EINTR || errno == ECONNABORTED));
    return client;
}

/* Descriptors are given from the lowest on: whether those above `fd` are enough for what the application opens. */
static bool leaves_some(int fd)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd < limit.rlim_cur - limit.rlim_cur / 4;
}

/* Beyond connections_max, too, as nobody else will take them. */
static void accept_waiting(struct uw_listener *listener)
{
    size_t connections_max = listener->server->settings.connections_max;
    int fd = listener->accept.fd, flags = fcntl(fd, F_GETFL), client = 0;

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
        return;
    for (size_t i = 0; client >= 0 && (i < connections_max || leaves_some(client)); i++) {
        client = accept_next(fd);
        if (client >= 0)
            bring(listener, client);
    }
}

/* A UNIX socket keeps those who wait when it ends to listen: others that have it may accept them, too. */
void uw_server_end_listening(struct uw_server *server)
{
    for (int i = 0; i < server->listener_count; i++) {
        struct uw_listener *listener = &server->listeners[i];
        bool tcp = listener->port > 0;

        if (tcp)
            hold_off(listener->accept.fd);
        else
            (void)shutdown(listener->accept.fd, SHUT_RD);
        accept_waiting(listener);
        if (tcp)
            (void)shutdown(listener->accept.fd, SHUT_RD); /* fails when another process did so before */
    }
}
