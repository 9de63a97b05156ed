/* A piece of a response that waits to be sent: bytes, then a range of a file or of lent memory. Any thread that
 * responds to a request makes chunks. The connection owns a chunk after uw_request_send or uw_request_post. */
#ifndef UW_TRANSPORT_CHUNK_H
#define UW_TRANSPORT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "io/loop.h"

struct uw_request;
struct uw_stream;

/* Meaning of a chunk for its request */
enum uw_chunk_flag {
    UW_CHUNK_FINISH = 1,   /* the response is complete with this chunk */
    UW_CHUNK_CLOSE = 2,    /* with FINISH: the connection closes after this chunk is sent */
    UW_CHUNK_ABORT = 4,    /* with FINISH: the response is incomplete, and the connection closes at once */
    UW_CHUNK_TO_CLOSE = 8, /* first chunk of a response that ends with the connection */
    UW_CHUNK_UPGRADE = 16, /* with FINISH: the request's uw_push_client owns the connection afterwards */
};

struct uw_chunk {
    struct uw_message message; /* used by uw_request_post */
    struct uw_chunk *next;
    struct uw_request *request; /* request that posts the chunk, or that `ended` reports */
    struct uw_stream *stream;   /* stream that counts the bytes of the chunk */
    size_t length, sent;        /* length of `bytes`, and the number of sent bytes */
    size_t capacity;
    unsigned flags;

    /* After `bytes`, `rest_left` bytes from `rest_offset` follow: of the descriptor `file`, or of `memory` of another
     * owner. Without them `file` is -1 and `memory` is NULL. */
    int file;
    const char *memory;
    int64_t rest_offset, rest_left;

    /* Gives back the file or memory after the chunk was sent or dropped. May be NULL. */
    void (*release)(struct uw_chunk *chunk);

    /* Runs on the loop's thread before a queued chunk is freed, if the report of its response waits for it. `unsent` is
     * the number of dropped bytes of the response. May be NULL. */
    void (*ended)(struct uw_chunk *chunk, size_t unsent);

    void *lender;         /* owner of the lent file or memory, for `release` */
    struct uw_slab *slab; /* slab of the chunk, or NULL */
    char bytes[];
};

#define UW_CHUNK_BYTES_MIN 1024  /* minimum with the header: small responses to pipelined requests share a chunk */
#define UW_CHUNK_SLAB_BYTES 2048 /* bytes of a chunk from a slab, including the header */

/* Returns the number of unsent bytes of the chunk. */
static inline size_t uw_chunk_left(const struct uw_chunk *chunk)
{
    return chunk->length - chunk->sent + (size_t)chunk->rest_left;
}

/* Returns a chunk with space for `capacity` bytes, or NULL without memory. */
struct uw_chunk *uw_chunk_new(size_t capacity);

/* Returns a chunk with a copy of `bytes`, or NULL without memory. */
struct uw_chunk *uw_chunk_copy(const char *bytes, size_t length);

/* Returns a chunk with space for UW_CHUNK_SLAB_CAPACITY bytes, or NULL without memory. The slab's objects have
 * UW_CHUNK_SLAB_BYTES. */
struct uw_chunk *uw_chunk_take(struct uw_slab *slab);

#define UW_CHUNK_SLAB_CAPACITY (UW_CHUNK_SLAB_BYTES - sizeof(struct uw_chunk))

/* Makes space for `length` more bytes in `*chunk`, which may be NULL. A larger chunk may replace `*chunk`, which must
 * not have lent memory or a file. Returns 0, or -ENOMEM with the chunk unchanged. */
int uw_chunk_reserve(struct uw_chunk **chunk, size_t length);

/* Same as uw_chunk_reserve, and appends `bytes`. */
int uw_chunk_append(struct uw_chunk **chunk, const char *bytes, size_t length);

/* Appends `length` bytes of the file `fd` from `offset`. The chunk takes ownership of `fd`. */
void uw_chunk_add_file(struct uw_chunk *chunk, int fd, int64_t offset, int64_t length);

void uw_chunk_free(struct uw_chunk *chunk);

#endif
