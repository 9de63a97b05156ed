#include <stdlib.h>

#include "io/shutdown_and_close.h"
#include "server/connection.h"
#include "server/server.h"

/* A client that the kernel has accepted. It waits for the loop first, and then in server->waiting while the server is
 * full. */
struct accepted_client {
    struct uw_message message;
    struct uw_list link; /* in server->waiting */
    struct uw_listener *listener;
    int fd;
};

/* Removes the first client of server->waiting, which must not be empty. */
static struct accepted_client remove_first(struct uw_server *server)
{
    struct accepted_client *first = uw_container_of(server->waiting.next, struct accepted_client, link),
                           accepted_client = *first;

    uw_list_remove(&first->link);
    free(first);
    return accepted_client;
}

void uw_server_admit(struct uw_server *server)
{
    UW_ASSERT_OWNER(&server->server_context.loop);
    while (!uw_list_empty(&server->waiting) && !uw_server_is_full(server)) {
        struct accepted_client accepted_client = remove_first(server);

        uw_connection_open(&server->server_context, accepted_client.listener, accepted_client.fd);
    }
}

void uw_server_refuse_waiting(struct uw_server *server)
{
    while (!uw_list_empty(&server->waiting))
        uw_shutdown_and_close(remove_first(server).fd);
}

static void handle_accepted_client(struct uw_loop *loop, struct uw_message *message)
{
    struct accepted_client *accepted_client = uw_container_of(message, struct accepted_client, message);
    struct uw_server *server = uw_container_of(loop, struct uw_server, server_context.loop);

    UW_ASSERT_OWNER(loop);
    uw_list_append(&server->waiting, &accepted_client->link);
    if (server->ended)
        uw_server_refuse_waiting(server);
    else
        uw_server_admit(server);
}

static struct accepted_client *accepted_client_new(struct uw_listener *listener, int fd)
{
    struct accepted_client *accepted_client = malloc(sizeof *accepted_client);

    if (accepted_client)
        *accepted_client =
            (struct accepted_client){.message = {.receive = handle_accepted_client}, .listener = listener, .fd = fd};
    else
        uw_shutdown_and_close(fd);
    return accepted_client;
}

void uw_server_post_accepted(struct uw_listener *listener, int fd)
{
    struct accepted_client *accepted_client = accepted_client_new(listener, fd);

    if (accepted_client)
        uw_loop_post(&listener->server->server_context.loop, &accepted_client->message);
}

void uw_server_accepted(struct uw_listener *listener, int fd)
{
    struct uw_server *server = listener->server;
    struct accepted_client *accepted_client;

    UW_ASSERT_OWNER(&server->server_context.loop);
    if (!uw_server_is_full(server)) {
        uw_connection_open(&server->server_context, listener, fd);
        return;
    }
    accepted_client = accepted_client_new(listener, fd);
    if (accepted_client)
        uw_list_append(&server->waiting, &accepted_client->link);
}
