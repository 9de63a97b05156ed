/* Chunks on their way to the client, in order: a queue of which the first may be in the transport's hands. */
#ifndef UW_SERVER_OUTGOING_H
#define UW_SERVER_OUTGOING_H

#include "transport/chunk.h"

struct uw_outgoing {
    struct uw_chunk *first, *last;
    size_t bytes; /* of all of them: what the client has not taken yet */
};

/* From now on the chunk counts to the stream, until it has been sent or is refused. */
void uw_outgoing_count(struct uw_stream *stream, struct uw_chunk *chunk);

/* The queue takes a chunk over that has been counted. `sending`: the transport reads the first chunk. */
void uw_outgoing_append(struct uw_outgoing *outgoing, struct uw_chunk *chunk, bool sending);

/* The first `count` bytes have been sent. Frees what is done with, up to a chunk that is the last before the connection
 * closes: that one stays the first, with nothing left. */
void uw_outgoing_take(struct uw_outgoing *outgoing, size_t count);

/* The bytes of all chunks, counted anew. */
size_t uw_outgoing_sum(const struct uw_outgoing *outgoing);

/* All that is in the queue counts to `stream` from now on. */
void uw_outgoing_move(struct uw_outgoing *outgoing, struct uw_stream *stream);

/* A chunk that has been counted and is not to be sent. */
void uw_outgoing_refuse(struct uw_chunk *chunk);

/* Frees all. */
void uw_outgoing_drop(struct uw_outgoing *outgoing);

#endif
