/* A server on one loop: listeners, room for clients, draining. What a request is answered with is the
 * handler's. */
#ifndef UW_SERVER_SERVER_H
#define UW_SERVER_SERVER_H

#include "server/listener.h"
#include "server/service.h"

#define UW_LISTENERS_MAX 16
#define UW_GATHER_MAX 16             /* requests; see uw_loop.gather_max */
#define UW_GATHER_CONNECTIONS_MIN 64 /* with fewer, server and clients would wait for each other */

#define UW_BACKLOG_MAX 4096                        /* clients that the kernel may hand over at once */
#define UW_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* after descriptors or memory ran out */
#define UW_DRAIN_TURNS_MAX 64                      /* of accepting from the backlog when draining */
#define UW_DRAIN_LEFT_MAX 64 /* clients taken once accepting has ended; more of them wake another process */

struct uw_server {
    struct uw_service service;
    struct uw_list waiting; /* clients beyond `room` */
    size_t room;            /* connections_max; or fewer, while descriptors are; or 0: not yet */
    struct uw_listener listeners[UW_LISTENERS_MAX];
    int listener_count;
    struct uw_timer accept_retry;
    atomic_bool some_left;    /* clients for whom there was no room when listening ended */
    bool ended;               /* there are no more turns */
    int drain_turns;          /* in which the backlog was looked at */
    uint64_t accepted_before; /* the last of them */
};

/* Opens a server without listeners, on the thread that will run it. Returns what uw_loop_open does; -EINVAL for a limit
 * that is none, before anything is touched. The server must not
 * move. */
int uw_server_open(struct uw_server *server, const struct uw_server_settings *settings, const char *backend,
                   struct uw_handler handler);

/* Accepts from a listening socket, which remains the caller's. Returns 0 or -errno. */
int uw_server_listen(struct uw_server *server, int fd);

/* The same by TLS. The context is held as long as the server is open; NULL: not by TLS. */
int uw_server_listen_tls(struct uw_server *server, int fd, struct uw_tls_context *tls);

/* Accepts nobody before `at_ns`, unless it drains: who comes waits in the backlog. To be called before it listens, and
 * then again for another time: it does nothing once the server accepts. */
void uw_server_accept_from(struct uw_server *server, int64_t at_ns);

/* One turn of the loop, of at most `wait_ns`. Returns 0 or -errno. */
int uw_server_turn(struct uw_server *server, int64_t wait_ns);

/* Hands responses to the kernel before the turn ends. */
void uw_server_flush(struct uw_server *server);

/* Accepts no more than what waits in the backlog, and lets every connection end after its current request. */
void uw_server_drain(struct uw_server *server);

/* Has the kernel refuse whoever connects from now on, on behalf of all processes that have the listeners, and takes in
 * who is connected already: before a server drains, or as it begins to. Any thread, while the server is open. */
void uw_server_end_listening(struct uw_server *server);

/* Whether a server that drains has nothing left to do. */
bool uw_server_drained(const struct uw_server *server);

static inline size_t uw_server_connections(const struct uw_server *server)
{
    return server->service.connections.taken;
}

/* Whether nobody is left but whom the application has for itself. */
static inline bool uw_server_is_finished(const struct uw_server *server)
{
    return server->service.connections.taken <= server->service.relays;
}

static inline bool uw_server_is_full(const struct uw_server *server)
{
    return uw_server_connections(server) >= server->room;
}

/* Ends every connection for its client, by a reset where an answer is not complete, and leaves all else to the end of
 * the process: for a server that takes no more turns, and cannot be closed. */
void uw_server_end_connections(struct uw_server *server);

/* There will be no more turns: every client is gone for the handler, and whoever waits for one is told. On the loop's
 * thread, where others wait and post still; what they post from now on arrives in uw_server_close. */
void uw_server_stop(struct uw_server *server);

/* Closes every connection at once. Requests still held by the handler become invalid. On the thread that runs the
 * server, or on any once that has ended. */
void uw_server_close(struct uw_server *server);

/* Clients that were accepted, in arrivals.c. On the loop's thread: opens a connection, or has the client wait for
 * room. */
void uw_server_take_in(struct uw_listener *listener, int fd);

/* Any thread: has the loop do so. */
void uw_server_bring(struct uw_listener *listener, int fd);

/* Opens as many of those who wait as there is room for; or closes them all. */
void uw_server_admit(struct uw_server *server);
void uw_server_turn_away(struct uw_server *server);

#endif
