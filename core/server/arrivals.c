#include <stdlib.h>

#include "io/hang_up.h"
#include "server/connection.h"
#include "server/server.h"

/* A client that the kernel had connected, on its way to the loop, and then until there is room for it. */
struct arrival {
    struct uw_message message;
    struct uw_list link; /* in server->waiting */
    struct uw_listener *listener;
    int fd;
};

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
    UW_ASSERT_OWNER(&server->service.loop);
    while (!uw_list_empty(&server->waiting) && !uw_server_is_full(server)) {
        struct arrival arrival = take_first(server);

        uw_connection_open(&server->service, arrival.listener, arrival.fd);
    }
}

void uw_server_turn_away(struct uw_server *server)
{
    while (!uw_list_empty(&server->waiting))
        uw_hang_up(take_first(server).fd);
}

static void arrive(struct uw_loop *loop, struct uw_message *message)
{
    struct arrival *arrival = uw_owner(message, struct arrival, message);
    struct uw_server *server = uw_owner(loop, struct uw_server, service.loop);

    UW_ASSERT_OWNER(loop);
    uw_list_append(&server->waiting, &arrival->link);
    if (server->ended)
        uw_server_turn_away(server);
    else
        uw_server_admit(server);
}

static struct arrival *arrival_new(struct uw_listener *listener, int fd)
{
    struct arrival *arrival = malloc(sizeof *arrival);

    if (arrival)
        *arrival = (struct arrival){.message = {.receive = arrive}, .listener = listener, .fd = fd};
    else
        uw_hang_up(fd);
    return arrival;
}

void uw_server_bring(struct uw_listener *listener, int fd)
{
    struct arrival *arrival = arrival_new(listener, fd);

    if (arrival)
        uw_loop_post(&listener->server->service.loop, &arrival->message);
}

void uw_server_take_in(struct uw_listener *listener, int fd)
{
    struct uw_server *server = listener->server;
    struct arrival *arrival;

    UW_ASSERT_OWNER(&server->service.loop);
    if (!uw_server_is_full(server)) {
        uw_connection_open(&server->service, listener, fd);
        return;
    }
    arrival = arrival_new(listener, fd);
    if (arrival)
        uw_list_append(&server->waiting, &arrival->link);
}
