#include "server/send_queue.h"

#include <string.h>

#include "base/invariant.h"
#include "server/stream.h"

/* Small responses to pipelined requests are sent in one piece. */
static bool merges(const struct uw_send_queue *outgoing, const struct uw_chunk *chunk, bool sending)
{
    const struct uw_chunk *last = outgoing->last;
    bool is_read = sending && last == outgoing->first;

    return last && !is_read && !last->ended && last->stream == chunk->stream && !(last->flags & UW_CHUNK_CLOSE) &&
           !last->rest_left && !chunk->rest_left && chunk->length <= last->capacity - last->length;
}

static void merge(struct uw_chunk *last, struct uw_chunk *chunk)
{
    memcpy(last->bytes + last->length, chunk->bytes, chunk->length);
    last->length += chunk->length;
    last->flags |= chunk->flags;
    uw_chunk_free(chunk);
}

void uw_send_queue_append(struct uw_send_queue *outgoing, struct uw_chunk *chunk, bool sending)
{
    outgoing->bytes += uw_chunk_left(chunk);
    if (merges(outgoing, chunk, sending)) {
        merge(outgoing->last, chunk);
        return;
    }
    chunk->next = NULL;
    if (outgoing->last)
        outgoing->last->next = chunk;
    else
        outgoing->first = chunk;
    outgoing->last = chunk;
}

/* Returns how many of `count` bytes were the chunk's. */
static size_t count_sent(struct uw_chunk *chunk, size_t count)
{
    size_t left = uw_chunk_left(chunk), sent = count < left ? count : left, bytes = chunk->length - chunk->sent;

    if (bytes > sent)
        bytes = sent;
    chunk->sent += bytes;
    chunk->rest_offset += (int64_t)(sent - bytes);
    chunk->rest_left -= (int64_t)(sent - bytes);
    atomic_fetch_sub(&chunk->stream->outgoing_bytes, sent);
    return sent;
}

static void pop(struct uw_send_queue *outgoing)
{
    struct uw_chunk *chunk = outgoing->first;

    outgoing->first = chunk->next;
    if (!outgoing->first)
        outgoing->last = NULL;
    if (chunk->ended)
        chunk->ended(chunk, 0);
    uw_chunk_free(chunk);
}

void uw_send_queue_take(struct uw_send_queue *outgoing, size_t count)
{
    while (outgoing->first) {
        struct uw_chunk *chunk = outgoing->first;
        size_t sent = count_sent(chunk, count);

        count -= sent;
        outgoing->bytes -= sent;
        if (uw_chunk_left(chunk) || chunk->flags & UW_CHUNK_CLOSE)
            return;
        pop(outgoing);
    }
}

size_t uw_send_queue_sum(const struct uw_send_queue *outgoing)
{
    size_t sum = 0;

    for (const struct uw_chunk *chunk = outgoing->first; chunk; chunk = chunk->next)
        sum += uw_chunk_left(chunk);
    return sum;
}

void uw_send_queue_count(struct uw_stream *stream, struct uw_chunk *chunk)
{
    chunk->stream = stream;
    atomic_fetch_add(&stream->outgoing_bytes, uw_chunk_left(chunk));
}

void uw_send_queue_refuse(struct uw_chunk *chunk)
{
    UW_INVARIANT(atomic_load(&chunk->stream->outgoing_bytes) >= uw_chunk_left(chunk));
    atomic_fetch_sub(&chunk->stream->outgoing_bytes, uw_chunk_left(chunk));
    uw_chunk_free(chunk);
}

void uw_send_queue_drop(struct uw_send_queue *outgoing)
{
    size_t unsent = 0; /* bytes of one response */

    while (outgoing->first) {
        struct uw_chunk *chunk = outgoing->first;

        outgoing->first = chunk->next;
        unsent += uw_chunk_left(chunk);
        if (chunk->ended) {
            chunk->ended(chunk, unsent);
            unsent = 0;
        }
        uw_send_queue_refuse(chunk);
    }
    outgoing->last = NULL;
    outgoing->bytes = 0;
}

void uw_send_queue_move(struct uw_send_queue *outgoing, struct uw_stream *stream)
{
    for (struct uw_chunk *chunk = outgoing->first; chunk; chunk = chunk->next) {
        if (chunk->ended)
            chunk->ended(chunk, 0);
        chunk->ended = NULL; /* the protocol that set it ends */
        atomic_fetch_sub(&chunk->stream->outgoing_bytes, uw_chunk_left(chunk));
        uw_send_queue_count(stream, chunk);
    }
}
