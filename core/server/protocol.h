/* The protocol seam: what the bytes of a connection mean. Chosen when a connection is accepted, or by the transport's
 * handshake (ALPN), or switched in the midst of it (101). A protocol keeps its state of a connection in
 * uw_connection_state, and calls what connection.h offers; it is called on the loop's thread. */
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
    const char *name; /* as ALPN has it (RFC 7301) */
    const struct uw_response_writer *writer;

    /* The transport is ready; bytes come from now on. The deadline that runs is that of the first request's head. */
    void (*opened)(struct uw_connection *connection);

    /* While the connection is open: bytes have come, the callee's only while this runs. */
    void (*received)(struct uw_connection *connection, const char *bytes, size_t length);

    /* Likewise: no more come: 0 at the client's end, -ECANCELED after uw_connection_pause, else -errno. */
    void (*receive_ended)(struct uw_connection *connection, int32_t result);

    /* Less is outgoing than before, perhaps nothing; the next send has begun. */
    void (*sent)(struct uw_connection *connection);

    /* At the end of the turn in which uw_connection_go_on_later was called. */
    void (*go_on)(struct uw_connection *connection);

    /* The deadline of reading has passed. */
    void (*timed_out)(struct uw_connection *connection);

    /* The server drains: an idle connection ends soon, any other after its current request. */
    void (*drain)(struct uw_connection *connection);

    /* Whether a client that sees the connection end now has half an answer. */
    bool (*is_answering)(const struct uw_connection *connection);

    /* The connection is closed: whoever has a request is told that its client is gone. */
    void (*closed)(struct uw_connection *connection);

    /* The connection is to be freed: frees what the protocol holds. Returns false while a handler has a request. */
    bool (*released)(struct uw_connection *connection);

    /* Frees all of it, requests too, when the loop has been closed. */
    void (*discarded)(struct uw_connection *connection);

    /* What request.h offers to handlers: a chunk that has been counted as outgoing; a response that cannot be made; a
     * connection that is wanted. */
    void (*take_over)(struct uw_request *request, struct uw_chunk *chunk);
    void (*abort)(struct uw_request *request);
    void (*detach)(struct uw_request *request, struct uw_detached *detached);
};

#endif
