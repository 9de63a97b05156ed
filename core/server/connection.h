/* One client's connection, whatever the transport and the protocol: its beginning, what it sends, deadlines, its end.
 *
 *     state       who changes it
 *     HANDSHAKE   uw_connection_open
 *     OPEN        the transport is ready: only now the protocol is asked anything
 *     FLUSHING    uw_connection_flush_and_end: the last answer is being sent; input is dropped
 *     LINGERING   the last answer has been sent; waits for the client to close (RFC 9112, section 9.6)
 *     CLOSED      uw_connection_close, from every state, or uw_connection_hand_out; the descriptor goes when the
 *                 transport has settled, the memory when no handler has a request of it any more
 *
 * States only follow one another downwards. */
#ifndef UW_SERVER_CONNECTION_H
#define UW_SERVER_CONNECTION_H

#include <stdalign.h>
#include <stddef.h>

#include "server/listener.h"
#include "server/outgoing.h"
#include "server/protocol.h"
#include "server/service.h"
#include "server/stream.h"
#include "transport/transport.h"

#define UW_AWAY_NS (UW_NS_PER_SECOND / 10)      /* whoever looks so late at a deadline has been away */
#define UW_LINGER_NS (2 * UW_NS_PER_SECOND)     /* to read the last response before the cut: RFC 9112, 9.6 */
#define UW_DRAIN_IDLE_NS (UW_NS_PER_SECOND / 2) /* for a request on its way on a kept connection as draining begins */
#define UW_HANDSHAKES_MAX 1024                  /* under way; one more ends the oldest */
#define UW_PROTOCOL_STATE_BYTES 192             /* room for what a protocol knows of a connection */

enum uw_connection_state {
    UW_CONNECTION_HANDSHAKE,
    UW_CONNECTION_OPEN,
    UW_CONNECTION_FLUSHING,
    UW_CONNECTION_LINGERING,
    UW_CONNECTION_CLOSED,
};

struct uw_connection {
    struct uw_service *service;
    const struct uw_listener *listener;
    const struct uw_protocol *protocol;
    struct uw_list link; /* in service->all */
    struct uw_list work; /* in service->handshaking, dirty, or dead */
    uint8_t state;
    bool receiving;   /* receive_ended is to be told */
    bool paused;      /* receiving was stopped since too much is pending */
    bool input_ended; /* the client has sent its last byte */
    bool goes_on;     /* uw_connection_go_on_later */
    bool endangered;  /* see uw_connection_endanger */
    bool excused;     /* the deadline of this send passed while the loop's thread was away */
    int remote_port;  /* 0 for a UNIX socket */
    struct uw_outgoing outgoing;
    size_t taken; /* of what is being sent, by the deadline before this one */
    struct uw_timer timer;
    int64_t read_deadline_ns, write_deadline_ns; /* UW_FOREVER: none */
    struct uw_endpoint endpoint;
    _Alignas(max_align_t) char protocol_state[UW_PROTOCOL_STATE_BYTES];
    char remote[UW_ADDRESS_BYTES]; /* the client's address */
};

/* What the protocol knows of the connection: room for a structure of its own, zeroed before `opened`. */
static inline void *uw_connection_state(const struct uw_connection *connection)
{
    return (void *)connection->protocol_state;
}

/* Begins to serve a connected descriptor, which is the connection's from now on. One whose client is gone already, or
 * for which there is no memory, is closed. */
void uw_connection_open(struct uw_service *service, const struct uw_listener *listener, int fd);

/* Another protocol has the connection from now on, in the midst of it: the old one has released what it held. */
void uw_connection_switch(struct uw_connection *connection, const struct uw_protocol *protocol);

/* Closes without waiting for anything but the operations in the kernel. A client to which an answer is not complete
 * sees a reset: an answer of HTTP/1.0 may be delimited by the end of the connection alone, and half of it pass for the
 * whole. */
void uw_connection_close(struct uw_connection *connection);

/* Closes between two requests: the client is told so by a transport that has a word for it, and need not take the end
 * for a cut. */
void uw_connection_part(struct uw_connection *connection);

/* Closes by a reset: the answer that was handed over last is not complete. */
void uw_connection_cut(struct uw_connection *connection);

/* Closes once what is outgoing has been sent and the client has had time to read it. */
void uw_connection_flush_and_end(struct uw_connection *connection);

/* Ends it for the client, by a reset where an answer is not complete. To close the descriptor would not, where a child
 * process that the application has forked has it, too. */
void uw_connection_end(struct uw_connection *connection);

/* From here on the end of the connection is a reset, whoever closes the descriptor, the kernel included: the client
 * shall not take what it has for all there is. Half of an answer would pass for the whole if the process were killed,
 * where the end of the connection alone delimits it. What cannot be reset is broken already. Until it ends in an
 * orderly way, or is handed over. */
void uw_connection_endanger(struct uw_connection *connection);
void uw_connection_out_of_danger(struct uw_connection *connection);

/* It is not among those any more that have a handshake under way. */
void uw_connection_end_handshake(struct uw_connection *connection);

/* Gives the descriptor to the caller, as the transport allows and when nothing is being received or sent: an empty
 * shell remains until the handler has finished the request. */
int uw_connection_hand_out(struct uw_connection *connection);

/* A closed connection whose handler has finished is buried at the end of the turn. */
void uw_connection_reap(struct uw_connection *connection);

/* Closes the descriptor, and frees the connection once the handler has finished with its request. */
void uw_connection_bury(struct uw_connection *connection);

/* Frees a connection and its requests without further ado, when the loop has been closed. */
void uw_connection_discard(struct uw_connection *connection);

/* Deadlines, UW_FOREVER for none: of receiving, and of sending. */
void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns);
void uw_connection_timeout(struct uw_connection *connection);

/* The server drains. */
void uw_connection_drain(struct uw_connection *connection);

/* Stops receiving, and goes on with it. */
void uw_connection_pause(struct uw_connection *connection);
void uw_connection_resume(struct uw_connection *connection);

/* Has protocol->go_on called at the end of this turn, from nobody's midst. */
void uw_connection_go_on_later(struct uw_connection *connection);

/* Whoever calls this at the end of a turn sends what was handed over in it. */
void uw_connection_end_turn(struct uw_connection *connection);

/* Has a chunk sent, which counts to `stream`: it has been counted already, or has not. */
void uw_connection_queue(struct uw_connection *connection, struct uw_chunk *chunk);
void uw_connection_enqueue(struct uw_connection *connection, struct uw_stream *stream, struct uw_chunk *chunk);

/* Sends what is outgoing, unless a send is under way. */
void uw_connection_flush(struct uw_connection *connection);

static inline bool uw_connection_is_open(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_OPEN;
}

static inline bool uw_connection_is_closed(const struct uw_connection *connection)
{
    return connection->state == UW_CONNECTION_CLOSED;
}

/* Nothing is outgoing. */
static inline bool uw_connection_is_flushed(const struct uw_connection *connection)
{
    return !connection->outgoing.first;
}

#endif
