/* One client's connection: receives and parses requests, one at a time, and sends their responses. */
#ifndef UW_SERVER_CONNECTION_H
#define UW_SERVER_CONNECTION_H

#include "server/pending.h"
#include "server/request.h"
#include "server/server.h"

enum uw_connection_state {
    UW_CONNECTION_IDLE,      /* between requests */
    UW_CONNECTION_HEAD,      /* part of a head has come */
    UW_CONNECTION_BODY,      /* the head is complete, its content is not */
    UW_CONNECTION_ANSWERING, /* the handler has the request */
    UW_CONNECTION_DETACHING, /* likewise, and wants the descriptor */
    UW_CONNECTION_FLUSHING,  /* the last response is being sent; input is dropped */
    UW_CONNECTION_LINGERING, /* the last response has been sent; waits for the client to close */
    UW_CONNECTION_CLOSED,    /* the descriptor goes when no operation is pending on it */
};

struct uw_connection {
    struct uw_server *server;
    struct uw_listener *listener;
    struct uw_list link; /* in server->all */
    struct uw_list work; /* in server->dirty, or in server->dead */
    int fd;
    uint8_t state;
    bool processing;   /* input is being consumed: do not start anew from within */
    bool input_ended;  /* the client has sent its last byte */
    bool paused;       /* receiving was stopped since too much is pending */
    bool endangered;   /* see uw_connection_endanger */
    bool excused;      /* the deadline of this send passed while the loop's thread was away */
    uint32_t requests; /* begun on this connection */

    struct uw_operation receive, send;
    struct msghdr vector; /* of a UW_SEND_VECTOR */
    struct iovec pieces[2];
    uint32_t taken; /* of a file by the deadline before this one */
    struct uw_timer timer;
    int64_t read_deadline_ns, write_deadline_ns; /* UW_FOREVER: none */

    struct uw_request *request;

    struct uw_pending pending; /* received ahead of its turn */

    struct uw_chunk *outgoing, *outgoing_last;
    atomic_size_t outgoing_bytes; /* handed over by the handler and not sent yet */

    struct uw_detached *detached;
    char remote[UW_ADDRESS_BYTES]; /* the client's address */
    int remote_port;               /* 0 for a UNIX socket */
};

/* connection.c: a connection's beginning, deadlines and end. */

/* Begins to serve a connected descriptor, which is the connection's from now on. One whose client is gone already, or
 * for which there is no memory, is closed. */
void uw_connection_open(struct uw_server *server, struct uw_listener *listener, int fd);

/* Closes without waiting for anything but the operations in the kernel; a request that the handler has is told as lost.
 * A client to which an answer is not complete sees a reset: an answer of HTTP/1.0 may be delimited by the end of the
 * connection alone, and half of it pass for the whole. */
void uw_connection_close(struct uw_connection *connection);

/* Closes by a reset: the answer that was handed over last is not complete. */
void uw_connection_cut(struct uw_connection *connection);

/* Ends it for the client, by a reset where an answer is not complete. To close the descriptor would not, where a child
 * process that the application has forked has it, too. */
void uw_connection_end(struct uw_connection *connection);

/* Half of the answer that begins now would pass for the whole if the process were killed: until the connection ends in
 * an orderly way, or is handed over, whatever else closes its descriptor resets it. */
void uw_connection_endanger(struct uw_connection *connection);

/* Ends in an orderly way after the last response was sent: the client has time to read it. */
void uw_connection_linger(struct uw_connection *connection);

/* Has a closed connection buried when the turn ends, if no operation is pending on it any more. */
void uw_connection_reap(struct uw_connection *connection);

/* Closes the descriptor, and frees the connection once the handler has finished with its request. */
void uw_connection_bury(struct uw_connection *connection);

/* Whether the handler has the request. */
static inline bool uw_connection_handled(const struct uw_connection *connection)
{
    return connection->request &&
           (connection->state == UW_CONNECTION_ANSWERING || connection->state == UW_CONNECTION_DETACHING);
}

void uw_connection_await_read(struct uw_connection *connection, int64_t deadline_ns);

/* For the next request, from now on: the client has the answer before. */
void uw_connection_await_next(struct uw_connection *connection);
void uw_connection_await_write(struct uw_connection *connection, int64_t deadline_ns);
void uw_connection_timeout(struct uw_connection *connection);

/* The server drains: an idle connection ends soon, any other after its current request. */
void uw_connection_drain(struct uw_connection *connection);

/* Frees a connection and its request without further ado, when the loop has been closed. */
void uw_connection_discard(struct uw_connection *connection);

/* Hands the descriptor over if it is wanted and nothing is pending on it. */
void uw_connection_try_detach(struct uw_connection *connection);

/* input.c: from bytes to requests. */

void uw_connection_received(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Goes on with what was received ahead of its turn. */
void uw_connection_continue(struct uw_connection *connection);

/* Answers with an error of the server's own, after which the connection is closed. */
void uw_connection_refuse(struct uw_connection *connection, int status);

void uw_request_free(struct uw_server *server, struct uw_request *request);

/* output.c: from chunks to the kernel. */

void uw_connection_enqueue(struct uw_connection *connection, struct uw_chunk *chunk);

/* At a write deadline: whether the client has taken its share of a file since the last one, and so gets another. */
bool uw_connection_takes_on(struct uw_connection *connection);

/* Sends what is outgoing, unless a send is under way. */
void uw_connection_flush(struct uw_connection *connection);

/* Frees what is outgoing except a chunk that the kernel is still reading. */
void uw_connection_drop_outgoing(struct uw_connection *connection);

#endif
