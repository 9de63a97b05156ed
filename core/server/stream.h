/* One exchange of requests and responses on a connection. HTTP/1.1 has one stream per connection; multiplexing
 * protocols have many. Outgoing bytes are counted per stream. The protocol owns the memory, or the long-lived client
 * that uses the stream.
 *
 * A long-lived client knows its stream and not the connection: the protocol below carries the stream by a table of
 * calls. */
#ifndef UW_SERVER_STREAM_H
#define UW_SERVER_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/send_queue.h"

struct uw_connection;
struct uw_stream;

/* The calls of the protocol that carries the stream of a long-lived client. All calls happen on the loop's thread. The
 * calls in the other direction are in uw_push_client_kind. */
struct uw_stream_calls {
    /* Returns whether the stream may be written to. It is not open any more after close and end. */
    bool (*is_open)(const struct uw_stream *stream);

    /* Returns the number of bytes in the queue. It leaves out the bytes that other threads have posted. */
    size_t (*queued_bytes)(const struct uw_stream *stream);

    /* Sends a chunk that has been counted as outgoing, at the end of the iteration. */
    void (*queue)(struct uw_stream *stream, struct uw_chunk *chunk);

    /* Delays output from the start of the stream until this call, for a limited time and size. */
    void (*uncork)(struct uw_stream *stream);

    /* Stops receiving, and continues. A repeated call does nothing. After a stop, receive_ended reports -ECANCELED. */
    void (*pause_input)(struct uw_stream *stream);
    void (*resume_input)(struct uw_stream *stream);

    /* Sets the time at which timed_out is called, or UW_FOREVER. */
    void (*await_read)(struct uw_stream *stream, int64_t deadline_ns);

    /* Schedules `resume` for the end of this iteration, outside any other call. */
    void (*schedule_resume)(struct uw_stream *stream);

    /* Ends the stream at once, or after all outgoing bytes have been sent. */
    void (*close)(struct uw_stream *stream);
    void (*end)(struct uw_stream *stream);

    /* The handler has served events: a closed stream may be freed. */
    void (*reap)(struct uw_stream *stream);
};

struct uw_stream {
    const struct uw_stream_calls *calls; /* NULL: no long-lived client uses the stream */
    struct uw_connection *connection;    /* known to protocols and transports alone */
    atomic_size_t outgoing_bytes;        /* handed over by the handler and not sent yet */
};

/* The stream gets its carrier, or has none any more. */
static inline void uw_stream_carry(struct uw_stream *stream, const struct uw_stream_calls *calls,
                                   struct uw_connection *connection)
{
    stream->calls = calls;
    stream->connection = connection;
}

static inline bool uw_stream_is_open(const struct uw_stream *stream)
{
    return stream->calls && stream->calls->is_open(stream);
}

static inline size_t uw_stream_queued_bytes(const struct uw_stream *stream)
{
    return stream->calls->queued_bytes(stream);
}

/* uw_stream_queue takes a chunk that has been counted, uw_stream_enqueue counts it. */
static inline void uw_stream_queue(struct uw_stream *stream, struct uw_chunk *chunk)
{
    stream->calls->queue(stream, chunk);
}

static inline void uw_stream_enqueue(struct uw_stream *stream, struct uw_chunk *chunk)
{
    uw_send_queue_count(stream, chunk);
    uw_stream_queue(stream, chunk);
}

static inline void uw_stream_uncork(struct uw_stream *stream)
{
    stream->calls->uncork(stream);
}

static inline void uw_stream_pause_input(struct uw_stream *stream)
{
    stream->calls->pause_input(stream);
}

static inline void uw_stream_resume_input(struct uw_stream *stream)
{
    stream->calls->resume_input(stream);
}

static inline void uw_stream_await_read(struct uw_stream *stream, int64_t deadline_ns)
{
    stream->calls->await_read(stream, deadline_ns);
}

static inline void uw_stream_schedule_resume(struct uw_stream *stream)
{
    stream->calls->schedule_resume(stream);
}

static inline void uw_stream_end(struct uw_stream *stream)
{
    stream->calls->end(stream);
}

/* Does nothing for a stream without a connection. */
static inline void uw_stream_close(struct uw_stream *stream)
{
    if (stream->calls)
        stream->calls->close(stream);
}

static inline void uw_stream_reap(struct uw_stream *stream)
{
    if (stream->calls)
        stream->calls->reap(stream);
}

#endif
