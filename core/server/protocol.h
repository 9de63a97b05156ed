/* The protocol interface, as two tables: the meaning of a connection's bytes, and the operations on a request. The
 * server chooses a protocol at accept, or by the transport's handshake (ALPN), or switches it later (101). A protocol
 * keeps its state in uw_connection_state and calls the functions of connection.h. All calls happen on the loop's
 * thread. */
#ifndef UW_SERVER_PROTOCOL_H
#define UW_SERVER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_chunk;
struct uw_connection;
struct uw_detached;
struct uw_request;
struct uw_response_writer;

struct uw_protocol {
    const char *name; /* the ALPN name (RFC 7301) */

    /* The transport is ready, and bytes follow. The deadline of the first request's head is running. */
    void (*opened)(struct uw_connection *connection);

    /* The connection is open and bytes have been received. They are valid only during the call. */
    void (*received)(struct uw_connection *connection, const char *bytes, size_t length);

    /* The connection is open and no more bytes come. `result` is 0 at end of file, -ECANCELED after
     * uw_connection_pause, else -errno. */
    void (*receive_ended)(struct uw_connection *connection, int32_t result);

    /* Less is outgoing than before, perhaps nothing; the next send has started. */
    void (*sent)(struct uw_connection *connection);

    /* Runs at the end of the iteration in which uw_connection_schedule_resume was called. */
    void (*resume)(struct uw_connection *connection);

    /* The deadline of reading has passed. */
    void (*timed_out)(struct uw_connection *connection);

    /* The server drains: an idle connection ends soon, any other after its current request. */
    void (*drain)(struct uw_connection *connection);

    /* Whether a client that sees the connection end now has half an answer. */
    bool (*response_in_progress)(const struct uw_connection *connection);

    /* The connection is closed: the protocol notifies handlers with a request that the client is gone. */
    void (*closed)(struct uw_connection *connection);

    /* The connection is about to be freed: frees the protocol's state. Returns false while a handler has a request. */
    bool (*released)(struct uw_connection *connection);

    /* Frees all of it, requests too, when the loop has been closed. */
    void (*discarded)(struct uw_connection *connection);
};

/* Implements request.h's operations for handlers. */
struct uw_request_calls {
    const struct uw_response_writer *writer; /* NULL: the request has no response */

    /* Returns the number of response bytes not sent yet. */
    size_t (*outgoing)(const struct uw_request *request);

    /* Ends the request's transmission at once. */
    void (*disconnect)(struct uw_request *request);

    /* Takes a chunk that has been counted as outgoing. */
    void (*take_over)(struct uw_request *request, struct uw_chunk *chunk);

    /* The response cannot be made. */
    void (*abort)(struct uw_request *request);

    /* The handler detaches the connection. */
    void (*detach)(struct uw_request *request, struct uw_detached *detached);
};

#endif
