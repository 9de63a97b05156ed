/* State that all connections of a server share: the loop, limits, the handler and memory. The server owns it.
 * Connections and protocols know nothing else of the server. */
#ifndef UW_SERVER_SERVER_CONTEXT_H
#define UW_SERVER_SERVER_CONTEXT_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/slab.h"
#include "http/request_head.h"
#include "io/loop.h"
#include "server/request.h"
#include "server/request_id.h"

#define UW_MESSAGE_BYTES_MAX (1024 * 1024 * 1024)
#define UW_HEALTH_PATH_BYTES_MAX 255

struct uw_channels;
struct uw_deflate;
struct uw_metrics_block;

struct uw_server_settings {
    struct uw_http_limits http;
    uint64_t body_bytes_max;       /* above: 413 */
    size_t body_memory_bytes_max;  /* above: a temporary file */
    size_t connections_max;        /* above: new ones wait in the listener's backlog */
    int64_t head_timeout_ns;       /* from the first byte, or from accepting, to the end of the head */
    int64_t body_timeout_ns;       /* see UW_SPOOLED_BODY_BYTES_PER_SECOND_MIN */
    int64_t keep_alive_timeout_ns; /* between a response and the next request */
    int64_t write_timeout_ns;      /* see UW_SEND_BYTES_MAX */
    bool answers_at_once;          /* the handler never waits: a busy loop gathers requests */

    /* Paths that health.h answers; "": none */
    char health_path[UW_HEALTH_PATH_BYTES_MAX + 1];
    char ready_path[UW_HEALTH_PATH_BYTES_MAX + 1];

    /* For long-lived clients, see push/push_client.h: */
    uint64_t message_bytes_max; /* of a message of theirs, at most UW_MESSAGE_BYTES_MAX; above: closed with 1009 */
    size_t client_bytes_max;    /* outgoing to one; a client with more is closed with 1008 */
    int64_t idle_timeout_ns;    /* idle time-out, after which the server checks the client */
};

struct uw_server_counts {
    uint64_t accepted, requests, refused /* with 4xx or 5xx by the server itself */, timeouts;
    uint64_t reported /* complete requests, by handler.answered */, tls_handshakes;
};

struct uw_server_context {
    struct uw_loop loop;
    struct uw_server_settings settings;
    struct uw_handler handler;
    struct uw_slab connections, requests, chunks /* for handlers on the loop's thread */;
    struct uw_list all;          /* connections */
    struct uw_list dirty;        /* connections with data to send, or with a scheduled resume */
    struct uw_list dead;         /* closed connections, freed at the end of the iteration */
    struct uw_list idle;         /* those between two requests, or before the first; the longest idle first */
    size_t idles;                /* connections in that list */
    size_t yielding;             /* connections that close for a new client, see uw_connection_yield */
    struct uw_list handshaking;  /* connections whose transport is not ready, the oldest first */
    size_t handshakes;           /* in that list */
    size_t tunnels;              /* hijacked connections, see socketpair_tunnel.h */
    atomic_bool drain_announced; /* see uw_server_announce_drain */
    atomic_bool draining;
    struct uw_server_counts counts;
    struct uw_metrics_block *metrics; /* the owner's; NULL: none. See server_metrics.h */
    struct uw_server_counts measured; /* `counts` as far as they are in the metrics */
    struct uw_request_ids request_ids;
    uint64_t events; /* events of long-lived clients so far */
    bool closing;    /* the handler gets no more calls */
    struct uw_channels *channels;
    struct uw_deflate *deflate; /* shared by all clients that compress; NULL until the first one */
    size_t inflated_bytes;      /* of long messages that came compressed, as long as the handler has not served them */
    struct uw_list inflate_waiters;       /* clients that wait for inflate budget: see push/push_client.h */
    size_t clients;                       /* long-lived clients with a connection */
    size_t event_streams;                 /* of them, those that only listen */
    atomic_int_least64_t drain_spread_ns; /* over which the closes of many clients are spread when the server drains */

    /* A connection has ended, so another client may connect. */
    void (*ended)(struct uw_server_context *server_context);
};

/* Reports a system call that failed with -errno. On the loop's thread. */
static inline void uw_server_context_report_error(struct uw_server_context *server_context,
                                                  enum uw_system_error trouble, const char *where, int error)
{
    UW_ASSERT_OWNER(&server_context->loop);
    if (server_context->handler.troubled)
        server_context->handler.troubled(server_context->handler.context, trouble, where, -error);
}

/* Descriptors run out: the handler closes cached descriptors. Returns the number closed. On the loop's thread. */
static inline size_t uw_server_context_free_descriptors(struct uw_server_context *server_context)
{
    UW_ASSERT_OWNER(&server_context->loop);
    return server_context->handler.give_up ? server_context->handler.give_up(server_context->handler.context) : 0;
}

#endif
