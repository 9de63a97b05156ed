/* A server on one loop: listeners, a connection limit, draining. The handler makes the responses. */
#ifndef UW_SERVER_SERVER_H
#define UW_SERVER_SERVER_H

#include "server/listener.h"
#include "server/module.h"
#include "server/server_context.h"

#define UW_LISTENERS_MAX 16
#define UW_GATHER_MAX 16             /* requests; see uw_loop.gather_max */
#define UW_GATHER_CONNECTIONS_MIN 64 /* with fewer, server and clients would wait for each other */

#define UW_BACKLOG_MAX 4096                        /* clients that the kernel may queue at once */
#define UW_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* after descriptors or memory ran out */
#define UW_TRIM_CONNECTIONS_MIN 256                /* connections */
#define UW_TRIM_SHARE 4                            /* memory is trimmed when one in so many connections remains */
#define UW_TRIM_DELAY_NS UW_NS_PER_SECOND          /* before the memory of ended connections is trimmed */
#define UW_DRAIN_TURNS_MAX 64                      /* iterations that accept from the backlog when draining */
#define UW_DRAIN_LEFT_MAX 64 /* clients accepted after accepting has ended; more of them wake another process */

struct uw_server {
    struct uw_server_context server_context;
    const struct uw_composition *composition;
    struct uw_list waiting; /* clients beyond `capacity` */
    size_t capacity;        /* connections_max; or less while descriptors are short; 0: not measured yet */
    struct uw_listener listeners[UW_LISTENERS_MAX];
    int listener_count;
    struct uw_timer accept_retry;
    size_t connections_peak; /* the most connections since the last trim */
    struct uw_timer trim;
    atomic_bool some_left;    /* clients that could not be accepted when listening ended */
    bool starved;             /* a client could not be accepted for want of a descriptor */
    bool ended;               /* no more iterations follow */
    int drain_turns;          /* iterations that have accepted from the backlog */
    uint64_t accepted_before; /* counts.accepted at the last of them */
};

/* Opens a server without listeners, on the thread that will run it. `composition` lists its protocols and modules, see
 * composition/composition.h. Returns what uw_loop_open does. Returns -EINVAL for an invalid limit, before any change.
 * The server must not move. */
int uw_server_open(struct uw_server *server, const struct uw_composition *composition,
                   const struct uw_server_settings *settings, const char *backend, struct uw_handler handler);

/* Accepts from a listening socket, which remains the caller's. Returns 0 or -errno. */
int uw_server_listen(struct uw_server *server, int fd);

/* Accepts TLS connections; NULL: plain ones. The server has a reference to the context while it is open. */
int uw_server_listen_tls(struct uw_server *server, int fd, struct uw_tls_context *tls);

/* Does the same for a socket that the service manager keeps. The server accepts none of its clients once it drains:
 * they wait for the next server. */
int uw_server_listen_inherited(struct uw_server *server, int fd, struct uw_tls_context *tls);

/* Accepts no client before `at_ns`, unless the server drains; clients wait in the backlog. Call this before listening,
 * and again to change the time. It does nothing once the server accepts. */
void uw_server_accept_from(struct uw_server *server, int64_t at_ns);

/* Runs one iteration of the loop, which waits at most `wait_ns`. Returns 0 or -errno. */
int uw_server_turn(struct uw_server *server, int64_t wait_ns);

/* Hands responses to the kernel before the iteration ends. */
void uw_server_flush(struct uw_server *server);

/* The server will drain: it is not ready for new clients (see health.h), and each response ends its connection. Clients
 * are still accepted and served. Any thread, while the server is open. */
void uw_server_announce_drain(struct uw_server *server);

/* Accepts only clients in the backlog, except of inherited sockets, and ends every connection after its current
 * request.
 */
void uw_server_drain(struct uw_server *server);

/* Announces the drain, makes the kernel refuse new clients, for all processes that share the listeners, and accepts
 * clients already connected. Call this before a server drains, or as it begins to. Any thread, while the server is
 * open. */
void uw_server_close_listeners(struct uw_server *server);

/* Whether a server that drains has finished. */
bool uw_server_drained(const struct uw_server *server);

static inline size_t uw_server_connections(const struct uw_server *server)
{
    return server->server_context.connections.taken;
}

/* Whether only hijacked connections remain. */
static inline bool uw_server_is_finished(const struct uw_server *server)
{
    return server->server_context.connections.taken <= server->server_context.tunnels;
}

static inline bool uw_server_is_full(const struct uw_server *server)
{
    return uw_server_connections(server) >= server->capacity;
}

/* Ends every connection for its client, with a reset where a response is incomplete. The exit of the process frees the
 * rest. For a server that runs no more iterations and cannot be closed. */
void uw_server_end_connections(struct uw_server *server);

/* No more iterations follow. Marks every client as gone and notifies waiting handlers. On the loop's thread, while
 * other threads still wait and post; uw_server_close receives their later posts. */
void uw_server_stop(struct uw_server *server);

/* Closes every connection at once. Requests that the handler still has become invalid. On the thread that runs the
 * server, or on any once that has ended. */
void uw_server_close(struct uw_server *server);

/* Accepted clients, in accept_queue.c. On the loop's thread: opens a connection, or queues the client until another
 * connection ends. */
void uw_server_accepted(struct uw_listener *listener, int fd);

/* Passes a client to the loop. Any thread. */
void uw_server_post_accepted(struct uw_listener *listener, int fd);

/* Opens connections for queued clients up to the limit. uw_server_refuse_waiting closes all queued clients. */
void uw_server_admit(struct uw_server *server);
void uw_server_refuse_waiting(struct uw_server *server);

#endif
