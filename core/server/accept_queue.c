#include <stdlib.h>

#include "io/shutdown_and_close.h"
#include "server/connection.h"
#include "server/server.h"

/* A client that the kernel has accepted: on its way to the loop, then in the queue of clients beyond the limit. */
struct arrival {
    struct uw_message message;
    struct uw_list link; /* in server->waiting */
    struct uw_listener *listener;
    int fd;
};

/* The list is not empty. */
static struct arrival take_first(struct uw_server *server)
{
    struct arrival *first = uw_container_of(server->waiting.next, struct arrival, link), arrival = *first;

    uw_list_remove(&first->link);
    free(first);
    return arrival;
}

void uw_server_admit(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    while (!uw_list_empty(&server->waiting) && !uw_server_is_full(server)) {
        struct arrival arrival = take_first(server);

        uw_connection_open(&server->server_context, arrival.listener, arrival.fd);
    }
}

void uw_server_refuse_waiting(struct uw_server *server)
{
    while (!uw_list_empty(&server->waiting))
        uw_shutdown_and_close(take_first(server).fd);
}

static void arrive(struct uw_loop *loop, struct uw_message *message)
{
    struct arrival *arrival = uw_container_of(message, struct arrival, message);
    struct uw_server *server = uw_container_of(loop, struct uw_server, server_context.loop);

    UW_ASSERT_OWNER(loop);
    uw_list_append(&server->waiting, &arrival->link);
    if (server->ended)
        uw_server_refuse_waiting(server);
    else
        uw_server_admit(server);
}

static struct arrival *arrival_new(struct uw_listener *listener, int fd)
{
    struct arrival *arrival = malloc(sizeof *arrival);

    if (arrival)
        *arrival = (struct arrival){.message = {.receive = arrive}, .listener = listener, .fd = fd};
    else
        uw_shutdown_and_close(fd);
    return arrival;
}

void uw_server_post_accepted(struct uw_listener *listener, int fd)
{
    struct arrival *arrival = arrival_new(listener, fd);

    if (arrival)
        uw_loop_post(&listener->server->server_context.loop, &arrival->message);
}

void uw_server_accepted(struct uw_listener *listener, int fd)
{
    struct uw_server *server = listener->server;
    struct arrival *arrival;

    UW_ASSERT_OWNER(&server->server_context.loop);
    if (!uw_server_is_full(server)) {
        uw_connection_open(&server->server_context, listener, fd);
        return;
    }
    arrival = arrival_new(listener, fd);
    if (arrival)
        uw_list_append(&server->waiting, &arrival->link);
}
