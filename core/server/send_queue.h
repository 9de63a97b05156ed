/* Chunks on their way to the client, in order: a queue of which the first may be in the transport's hands. */
#ifndef UW_SERVER_SEND_QUEUE_H
#define UW_SERVER_SEND_QUEUE_H

#include "transport/chunk.h"

struct uw_send_queue {
    struct uw_chunk *first, *last;
    size_t bytes; /* of all chunks: bytes that have not been sent yet */
};

/* Counts the chunk as outgoing of the stream, until it has been sent or refused. */
void uw_send_queue_count(struct uw_stream *stream, struct uw_chunk *chunk);

/* Adds a chunk that has been counted to the queue. `sending`: the transport reads the first chunk. */
void uw_send_queue_append(struct uw_send_queue *outgoing, struct uw_chunk *chunk, bool sending);

/* The first `count` bytes have been sent. Frees finished chunks. The last chunk before the connection closes remains
 * the first, without bytes. */
void uw_send_queue_take(struct uw_send_queue *outgoing, size_t count);

/* Returns the sum of all chunks' bytes. */
size_t uw_send_queue_sum(const struct uw_send_queue *outgoing);

/* Counts the whole queue as outgoing of `stream`. */
void uw_send_queue_move(struct uw_send_queue *outgoing, struct uw_stream *stream);

/* A chunk that has been counted and is not to be sent. */
void uw_send_queue_refuse(struct uw_chunk *chunk);

/* Frees all. */
void uw_send_queue_drop(struct uw_send_queue *outgoing);

#endif
