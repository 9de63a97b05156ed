/* A piece of a response on its way to the client: bytes, then a range of a file or of borrowed memory. Any thread that
 * responds to a request makes chunks. The connection owns a chunk once it is handed over. */
#ifndef UW_TRANSPORT_CHUNK_H
#define UW_TRANSPORT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "io/loop.h"

struct uw_request;
struct uw_stream;

/* The meaning of a chunk for its request after the handover. */
enum uw_chunk_flag {
    UW_CHUNK_FINISH = 1,   /* the response is complete with this chunk */
    UW_CHUNK_CLOSE = 2,    /* with FINISH: close the connection after this chunk is sent */
    UW_CHUNK_ABORT = 4,    /* with FINISH: the response is broken; close at once so that the client notices */
    UW_CHUNK_TO_CLOSE = 8, /* the first chunk of a response that only the end of the connection delimits */
    UW_CHUNK_UPGRADE = 16, /* with FINISH: the request's uw_push_client owns the connection from here on */
};

struct uw_chunk {
    struct uw_message message; /* uw_request_post posts it */
    struct uw_chunk *next;
    struct uw_request *request; /* the request that posts the chunk */
    struct uw_stream *stream;   /* the stream that counts the chunk after the handover */
    size_t length, sent;        /* `length` of `bytes`, and how many of them are sent */
    size_t capacity;
    unsigned flags;
    int file;           /* after `bytes`, `rest_left` bytes of this descriptor follow from `rest_offset`; or -1 */
    const char *memory; /* or bytes of this memory follow, which has another owner; or NULL */
    int64_t rest_offset, rest_left;
    void (*release)(struct uw_chunk *chunk); /* returns what was borrowed, once the chunk is sent or dropped; or NULL */
    void *lender;                            /* for release */
    struct uw_slab *slab;                    /* the slab that owns the chunk; or NULL */
    char bytes[];
};

#define UW_CHUNK_BYTES_MIN 1024  /* minimum with the header: small responses to pipelined requests share one chunk */
#define UW_CHUNK_SLAB_BYTES 2048 /* size of a chunk from a slab, header included */

/* Returns how many bytes of the chunk are not sent yet. */
static inline size_t uw_chunk_left(const struct uw_chunk *chunk)
{
    return chunk->length - chunk->sent + (size_t)chunk->rest_left;
}

/* Returns a chunk with space for `capacity` bytes, or NULL when memory is exhausted. */
struct uw_chunk *uw_chunk_new(size_t capacity);

/* Returns a chunk with a copy of `bytes`, or NULL. */
struct uw_chunk *uw_chunk_copy(const char *bytes, size_t length);

/* Returns a chunk with space for UW_CHUNK_SLAB_CAPACITY bytes, from a slab of objects of UW_CHUNK_SLAB_BYTES, or NULL
 * when memory is exhausted. */
struct uw_chunk *uw_chunk_take(struct uw_slab *slab);

#define UW_CHUNK_SLAB_CAPACITY (UW_CHUNK_SLAB_BYTES - sizeof(struct uw_chunk))

/* Makes space for `length` more bytes in `*chunk`, or in a new chunk if it is NULL. A larger chunk may replace
 * `*chunk`, which must not have borrowed memory or a file. Returns 0, or -ENOMEM with the chunk unchanged. */
int uw_chunk_reserve(struct uw_chunk **chunk, size_t length);

/* Makes space in the same way and appends `bytes`. */
int uw_chunk_append(struct uw_chunk **chunk, const char *bytes, size_t length);

/* Appends `length` bytes of the file `fd`, from `offset`. The chunk closes `fd`. */
void uw_chunk_add_file(struct uw_chunk *chunk, int fd, int64_t offset, int64_t length);

void uw_chunk_free(struct uw_chunk *chunk);

#endif
