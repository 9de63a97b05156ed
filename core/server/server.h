/* An HTTP/1.1 server on one loop: listeners, connections, deadlines, limits. What a request is answered with is the
 * handler's. */
#ifndef UW_SERVER_SERVER_H
#define UW_SERVER_SERVER_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/slab.h"
#include "http1/parser.h"
#include "io/loop.h"
#include "server/address.h"
#include "server/request.h"
#include "transport/transport.h"

#define UW_LISTENERS_MAX 16
#define UW_GATHER_MAX 16             /* requests; see uw_loop.gather_max */
#define UW_GATHER_CONNECTIONS_MIN 64 /* with fewer, server and clients would wait for each other */

/* Received ahead of its turn; then the connection is not read for a while. The last result goes beyond it by less than
 * UW_RECEIVE_BYTES_MAX; io_uring may, the first time, have taken all that the kernel held for the connection. */
#define UW_PENDING_BYTES_MAX 65536

/* A content's bytes extend body_timeout by the time that they take at this rate. */
#define UW_BODY_BYTES_PER_SECOND_MIN 1024

#define UW_AWAY_NS (UW_NS_PER_SECOND / 10)  /* whoever looks so late at a deadline has been away */
#define UW_LINGER_NS (2 * UW_NS_PER_SECOND) /* to read the last response before the cut: RFC 9112, 9.6 */

/* For a client to take the answers before a hijack, which most often is at once: whoever wants the connection may keep
 * a thread waiting, or in mode inline every client. Looks are counted, not the time: the loop's thread may be away. */
#define UW_DETACH_LOOKS 10
#define UW_DETACH_STALL_NS (20 * UW_NS_PER_MS) /* between two looks whether the client takes what is outgoing */
#define UW_DETACH_ROOM_NS (5 * UW_NS_PER_MS)   /* between two looks whether the kernel has room for a head */

#define UW_BACKLOG_MAX 4096                        /* clients that the kernel may hand over at once */
#define UW_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* after descriptors or memory ran out */
#define UW_DRAIN_IDLE_NS (UW_NS_PER_SECOND / 2) /* for a request on its way on a kept connection as draining begins */
#define UW_DRAIN_TURNS_MAX 64                   /* of accepting from the backlog when draining */
#define UW_DRAIN_LEFT_MAX 64 /* clients taken once accepting has ended; more of them wake another process */

struct uw_server_settings {
    struct uw_http_limits http;
    uint64_t body_bytes_max;       /* above: 413 */
    size_t body_memory_bytes_max;  /* above: a temporary file */
    size_t connections_max;        /* above: new ones wait in the listener's backlog */
    int64_t head_timeout_ns;       /* from the first byte, or from accepting, to the end of the head */
    int64_t body_timeout_ns;       /* see UW_BODY_BYTES_PER_SECOND_MIN */
    int64_t keep_alive_timeout_ns; /* between a response and the next request */
    int64_t write_timeout_ns;      /* see UW_SEND_BYTES_MAX */
    bool answers_at_once;          /* the handler never waits: a busy loop gathers requests */
};

struct uw_server_counts {
    uint64_t accepted, requests, refused /* with 4xx or 5xx by the server itself */, timeouts;
};

struct uw_listener {
    struct uw_operation accept;
    struct uw_operation accept_left; /* once `accept` has ended */
    int taken;                       /* by it */
    struct uw_server *server;
    char address[UW_ADDRESS_BYTES]; /* numeric; "localhost" for a UNIX socket */
    int port;                       /* 0 for a UNIX socket */
};

struct uw_server {
    struct uw_loop loop;
    struct uw_server_settings settings;
    struct uw_handler handler;
    struct uw_slab connections, requests, chunks /* for handlers on the loop's thread */;
    struct uw_list all;     /* connections */
    struct uw_list dirty;   /* those with something to send */
    struct uw_list dead;    /* those to be buried at the end of the turn */
    struct uw_list waiting; /* clients beyond `room` */
    size_t room;            /* connections_max; or fewer, while descriptors are */
    struct uw_listener listeners[UW_LISTENERS_MAX];
    int listener_count;
    struct uw_timer accept_retry;
    atomic_bool draining;
    atomic_bool some_left;    /* clients for whom there was no room when listening ended */
    bool ended;               /* there are no more turns */
    int drain_turns;          /* in which the backlog was looked at */
    uint64_t accepted_before; /* the last of them */
    struct uw_server_counts counts;
};

/* Opens a server without listeners, on the thread that will run it. Returns what uw_loop_open does. The server must not
 * move. */
int uw_server_open(struct uw_server *server, const struct uw_server_settings *settings, const char *backend,
                   struct uw_handler handler);

/* Accepts from a listening socket, which remains the caller's. Returns 0 or -errno. */
int uw_server_listen(struct uw_server *server, int fd);

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
    return server->connections.taken;
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

/* Descriptors run short: the handler closes those that it can do without. Returns how many. On the loop's
 * thread. */
size_t uw_server_give_up(struct uw_server *server);

/* For connection.c: a connection has ended, so there is room for another. */
void uw_server_resume_accepting(struct uw_server *server);

/* Clients that were accepted, in arrivals.c. On the loop's thread: opens a connection, or has the client wait for
 * room. */
void uw_server_take_in(struct uw_listener *listener, int fd);

/* Any thread: has the loop do so. */
void uw_server_bring(struct uw_listener *listener, int fd);

/* Opens as many of those who wait as there is room for; or closes them all. */
void uw_server_admit(struct uw_server *server);
void uw_server_turn_away(struct uw_server *server);

#endif
