/* One client's connection, whatever the transport and the protocol: its start, sending, deadlines and end.
 *
 *     state       entered by
 *     HANDSHAKE   uw_connection_open
 *     OPEN        the transport's handshake is done; the protocol's calls begin
 *     FLUSHING    uw_connection_flush_and_end: the last response is being sent; input is dropped
 *     LINGERING   the last response has been sent; waits for the client to close (RFC 9112, section 9.6)
 *     CLOSED      uw_connection_close, from every state, or uw_connection_detach_fd; the descriptor closes when the
 *                 transport has settled; the memory is freed when no handler has a request of the connection
 *
 * States only change downwards. */
#ifndef UW_SERVER_CONNECTION_H
#define UW_SERVER_CONNECTION_H

#include <stdalign.h>
#include <stddef.h>

#include "server/listener.h"
#include "server/protocol.h"
#include "server/send_queue.h"
#include "server/server_context.h"
#include "server/stream.h"
#include "transport/transport.h"

#define UW_LATE_LOOP_NS (UW_NS_PER_SECOND / 10)      /* a loop this late for a deadline was blocked */
#define UW_LINGER_NS (2 * UW_NS_PER_SECOND)          /* to read the last response before the close: RFC 9112, 9.6 */
#define UW_DRAIN_IDLE_NS (UW_NS_PER_SECOND / 2)      /* for a request or an end in transit when draining begins */
#define UW_FIRST_BYTES_NS UW_NS_PER_SECOND           /* for a client that has connected to begin its first request */
#define UW_HANDSHAKES_MAX 1024                       /* under way; one more ends the oldest that has had its time */
#define UW_HANDSHAKES_HARD_MAX 4096                  /* one more ends the oldest in any case */
#define UW_HANDSHAKE_GRACE_NS (3 * UW_NS_PER_SECOND) /* for a handshake, however many others are under way */
#define UW_LAST_LOOK_NS (10 * UW_NS_PER_MS)          /* for bytes that are in the socket already to be received */
#define UW_CORK_NS (2 * UW_NS_PER_SECOND)            /* the longest delay: see uw_connection_cork */
#define UW_CORK_BYTES_MAX (64 * 1024)                /* outgoing; more ends the delay */
#define UW_PROTOCOL_STATE_BYTES 192                  /* space for a protocol's state */

enum uw_connection_state {
    UW_CONNECTION_HANDSHAKE,
    UW_CONNECTION_OPEN,
    UW_CONNECTION_FLUSHING,
    UW_CONNECTION_LINGERING,
    UW_CONNECTION_CLOSED,
};

struct uw_connection {
    struct uw_server_context *server_context;
    const struct uw_listener *listener;
    const struct uw_protocol *protocol;
    struct uw_list link; /* in server_context->all */
    struct uw_list work; /* in server_context->handshaking, dirty, or dead */
    struct uw_list idle; /* in server_context->idle */
    int64_t spare_ns;    /* idle: the time from which the connection may be closed for a new client */
    uint8_t state;
    bool receiving;        /* receive_ended has yet to be called */
    bool paused;           /* receiving was stopped since too much is pending */
    bool input_ended;      /* the client has sent its last byte */
    bool resume_scheduled; /* uw_connection_schedule_resume */
    bool reset_armed;      /* see uw_connection_arm_reset */
    bool yielding;         /* see uw_connection_yield; until the close or the next bytes */
    bool corked;           /* see uw_connection_cork */
    bool timeout_forgiven; /* the deadline of this send passed while the loop was late */
    int remote_port;       /* 0 for a UNIX socket */
    struct uw_send_queue outgoing;
    size_t unsent_bytes; /* dropped or refused bytes of the last response */
    size_t taken;        /* bytes of the current file that had been sent at the previous deadline */
    struct uw_timer timer;
    int64_t read_deadline_ns, write_deadline_ns; /* UW_FOREVER: none */
    struct uw_endpoint endpoint;
    _Alignas(max_align_t) char protocol_state[UW_PROTOCOL_STATE_BYTES];
    char remote[UW_ADDRESS_BYTES]; /* the client's address */
};

/* Returns the space for the protocol's own structure, zeroed before `opened`. */
static inline void *uw_connection_state(const struct uw_connection *connection)
{
    return (void *)connection->protocol_state;
}

/* Takes a connected descriptor over and serves it. The descriptor is closed when the client is gone already, or when
 * memory is exhausted. */
void uw_connection_open(struct uw_server_context *server_context, const struct uw_listener *listener, int fd);

/* Switches to another protocol. The old protocol has already released its state. */
void uw_connection_switch(struct uw_connection *connection, const struct uw_protocol *protocol);

/* Closes without waiting, except for the operations in the kernel. A client to which a response is incomplete sees a
 * reset: the end of the connection alone may delimit a response of HTTP/1.0, and half of it would pass for the whole.
 */
void uw_connection_close(struct uw_connection *connection);

/* `outgoing` and `disconnect` of a protocol with one stream for each connection. */
size_t uw_connection_outgoing(const struct uw_request *request);
void uw_connection_disconnect(struct uw_request *request);

/* Closes between two requests. Where the transport has a closing message (TLS close_notify), the client gets it and
 * need not suspect a truncation. */
void uw_connection_close_graceful(struct uw_connection *connection);

/* Closes by a reset: the last response is incomplete. */
void uw_connection_reset(struct uw_connection *connection);

/* Closes after all outgoing data has been sent and the client has had time to read it. */
void uw_connection_flush_and_end(struct uw_connection *connection);

/* Ends the connection for its client, by a reset where a response is incomplete. close(2) would not do this when a
 * forked child process has the descriptor, too. */
void uw_connection_end(struct uw_connection *connection);

/* Arms a reset: the connection ends with a reset whatever closes the descriptor, even the kernel after the process is
 * killed. So a client does not mistake half a response for the whole where the end of the connection delimits it.
 * uw_connection_disarm_reset disarms the reset. An error of setsockopt is ignored: such a connection is broken already.
 */
void uw_connection_arm_reset(struct uw_connection *connection);
void uw_connection_disarm_reset(struct uw_connection *connection);

/* The handshake of the connection has ended. */
void uw_connection_end_handshake(struct uw_connection *connection);

/* Gives the descriptor to the caller, if the transport allows it, when no receive or send is pending: the connection
 * remains without a descriptor until the handler has finished the request. */
int uw_connection_detach_fd(struct uw_connection *connection);

/* Queues a closed connection, whose handler has finished, to be freed at the end of the iteration. */
void uw_connection_reap(struct uw_connection *connection);

/* Closes the descriptor, and frees the connection once the handler has finished with its request. */
void uw_connection_free(struct uw_connection *connection);

/* Frees a connection and its requests at once, after the loop has been closed. */
void uw_connection_discard(struct uw_connection *connection);

/* Deadlines, UW_FOREVER for none: of receiving, and of sending. */
void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns);
void uw_connection_timeout(struct uw_connection *connection);

/* Whether the socket has bytes that are about to be received. */
bool uw_connection_has_more(const struct uw_connection *connection);

/* The server drains. */
void uw_connection_drain(struct uw_connection *connection);

/* An idle connection waits for the first bytes of its next request. From `spare_ns` on the server may close it for a
 * new client. */
void uw_connection_begin_idle(struct uw_connection *connection, int64_t spare_ns);
static inline void uw_connection_end_idle(struct uw_connection *connection)
{
    connection->server_context->idles -= !uw_list_empty(&connection->idle);
    uw_list_remove(&connection->idle);
}

/* Closes an idle connection for a new client, unless bytes arrive first. Receiving ends first, so that no received
 * bytes are dropped. */
void uw_connection_yield(struct uw_connection *connection);

/* Stops receiving, and resumes it. */
void uw_connection_pause(struct uw_connection *connection);
void uw_connection_resume(struct uw_connection *connection);

/* Schedules protocol->resume for the end of this iteration, outside any other call. */
void uw_connection_schedule_resume(struct uw_connection *connection);

/* Runs at the end of an iteration and sends the output queued in it. */
void uw_connection_end_turn(struct uw_connection *connection);

/* Queues a chunk of `stream`. uw_connection_queue takes a chunk that has been counted, uw_connection_enqueue counts it.
 */
void uw_connection_queue(struct uw_connection *connection, struct uw_chunk *chunk);
void uw_connection_enqueue(struct uw_connection *connection, struct uw_stream *stream, struct uw_chunk *chunk);

/* Delays output until uw_connection_uncork, for at most UW_CORK_NS and UW_CORK_BYTES_MAX. */
void uw_connection_cork(struct uw_connection *connection);
void uw_connection_uncork(struct uw_connection *connection);

/* Sends outgoing data, unless a send is pending or the connection is corked. */
void uw_connection_flush(struct uw_connection *connection);

static inline bool uw_connection_is_open(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_OPEN;
}

static inline bool uw_connection_is_closed(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_CLOSED;
}

/* Whether nothing is outgoing. */
static inline bool uw_connection_is_flushed(const struct uw_connection *connection)
{
    return !connection->outgoing.first;
}

#endif
