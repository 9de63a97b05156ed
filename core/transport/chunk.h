/* A piece of a response on its way to the client: bytes, then a stretch of a file or of borrowed memory. Chunks are
 * made by whoever answers a request, on any thread, and belong to the connection once handed over. */
#ifndef UW_TRANSPORT_CHUNK_H
#define UW_TRANSPORT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "io/loop.h"

struct uw_request;
struct uw_stream;

/* What handing over a chunk means for its request. */
enum uw_chunk_flag {
    UW_CHUNK_FINISH = 1,   /* the response is complete with this chunk */
    UW_CHUNK_CLOSE = 2,    /* with FINISH: close the connection once this has been sent */
    UW_CHUNK_ABORT = 4,    /* with FINISH: the response is broken; close at once so that the client sees it */
    UW_CHUNK_TO_CLOSE = 8, /* the first of a response that the end of the connection alone delimits */
    UW_CHUNK_UPGRADE = 16, /* with FINISH: the connection is the request's client's from here on */
};

struct uw_chunk {
    struct uw_message message; /* for uw_request_post */
    struct uw_chunk *next;
    struct uw_request *request; /* which posts it */
    struct uw_stream *stream;   /* to which it counts once it is handed over */
    size_t length, sent;        /* of `bytes` */
    size_t capacity;
    unsigned flags;
    int file;           /* `rest_left` bytes of this descriptor, from `rest_offset`, follow `bytes`; or -1 */
    const char *memory; /* or of this memory, which somebody else keeps; or NULL */
    int64_t rest_offset, rest_left;
    void (*release)(struct uw_chunk *chunk); /* gives back what was borrowed, once sent or dropped; or NULL */
    void *lender;                            /* release's */
    struct uw_slab *slab;                    /* to which the chunk goes back; or NULL */
    char bytes[];
};

#define UW_CHUNK_BYTES_MIN \
    1024 /* allocated at least, header included: small answers to pipelined requests share one chunk */
#define UW_CHUNK_SLAB_BYTES 2048 /* of a chunk from a slab, header included */

/* What of it has not been sent. */
static inline size_t uw_chunk_left(const struct uw_chunk *chunk)
{
    return chunk->length - chunk->sent + (size_t)chunk->rest_left;
}

/* A chunk with room for `capacity` bytes, or NULL when memory is exhausted. */
struct uw_chunk *uw_chunk_new(size_t capacity);

/* A chunk with a copy of `bytes`. */
struct uw_chunk *uw_chunk_copy(const char *bytes, size_t length);

/* A chunk with room for UW_CHUNK_SLAB_CAPACITY bytes, from a slab of objects of UW_CHUNK_SLAB_BYTES; or NULL when
 * memory is exhausted. */
struct uw_chunk *uw_chunk_take(struct uw_slab *slab);

#define UW_CHUNK_SLAB_CAPACITY (UW_CHUNK_SLAB_BYTES - sizeof(struct uw_chunk))

/* Gives `*chunk`, or none yet, room for `length` more bytes; it may be another one then. Not of one that has borrowed.
 * Returns 0 or -ENOMEM, which leaves the chunk alone. */
int uw_chunk_reserve(struct uw_chunk **chunk, size_t length);

/* Likewise, and puts `bytes` there. */
int uw_chunk_append(struct uw_chunk **chunk, const char *bytes, size_t length);

/* Has `length` bytes of the file `fd`, from `offset`, follow the chunk's bytes; the chunk closes `fd`. */
void uw_chunk_add_file(struct uw_chunk *chunk, int fd, int64_t offset, int64_t length);

void uw_chunk_free(struct uw_chunk *chunk);

#endif
