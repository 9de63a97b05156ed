/* What all connections of a server have in common: the loop, the limits, who answers, and where their memory comes
 * from. The server owns it; connections and protocols know nothing else of the server. */
#ifndef UW_SERVER_SERVICE_H
#define UW_SERVER_SERVICE_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/slab.h"
#include "http/head.h"
#include "io/loop.h"
#include "server/request.h"

#define UW_MESSAGE_BYTES_MAX (1024 * 1024 * 1024)

struct uw_channels;
struct uw_deflate;

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

    /* Of clients that stay, see push/client.h: */
    uint64_t message_bytes_max; /* of a message of theirs, at most UW_MESSAGE_BYTES_MAX; above: closed with 1009 */
    size_t client_bytes_max;    /* outgoing to one; then no more is taken, and it is closed with 1008 */
    int64_t silence_ns;         /* after which it is asked whether it is there */
};

struct uw_server_counts {
    uint64_t accepted, requests, refused /* with 4xx or 5xx by the server itself */, timeouts;
};

struct uw_service {
    struct uw_loop loop;
    struct uw_server_settings settings;
    struct uw_handler handler;
    struct uw_slab connections, requests, chunks /* for handlers on the loop's thread */;
    struct uw_list all;         /* connections */
    struct uw_list dirty;       /* those with something to send, or to go on with */
    struct uw_list dead;        /* those to be buried at the end of the turn */
    struct uw_list handshaking; /* those whose transport is not ready, the oldest first */
    size_t handshakes;          /* in that list */
    size_t relays;              /* connections that the application has for itself, see relay.h */
    atomic_bool draining;
    struct uw_server_counts counts;
    uint64_t events; /* of clients that stay, so far: what the handler was asked to serve beside requests */
    bool closing;    /* the handler is told nothing any more */
    struct uw_channels *channels;
    struct uw_deflate *deflate; /* of all clients that compress; NULL until there is one */
    size_t inflated_bytes;      /* of long messages that came compressed, as long as the handler has not served them */
    struct uw_list crowd;       /* clients that wait until these are fewer: see push/client.h */
    atomic_int_least64_t leaving_ns; /* over which clients that stay leave when the server drains */

    /* A connection has ended, so there is room for another. */
    void (*ended)(struct uw_service *service);
};

/* Descriptors run short: the handler closes those that it can do without. Returns how many. On the loop's thread. */
static inline size_t uw_service_give_up(struct uw_service *service)
{
    UW_ASSERT_OWNER(&service->loop);
    return service->handler.give_up ? service->handler.give_up(service->handler.context) : 0;
}

#endif
