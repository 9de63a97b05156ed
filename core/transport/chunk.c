#include "transport/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_file(struct uw_chunk *chunk)
{
    close(chunk->file);
}

struct uw_chunk *uw_chunk_new(size_t capacity)
{
    size_t bytes = sizeof(struct uw_chunk) + capacity;
    struct uw_chunk *chunk;

    if (bytes < UW_CHUNK_BYTES_MIN)
        bytes = UW_CHUNK_BYTES_MIN;
    chunk = malloc(bytes);
    if (chunk)
        *chunk = (struct uw_chunk){.capacity = bytes - sizeof *chunk, .file = -1};
    return chunk;
}

struct uw_chunk *uw_chunk_copy(const char *bytes, size_t length)
{
    struct uw_chunk *chunk = uw_chunk_new(length);

    if (chunk && length)
        memcpy(chunk->bytes, bytes, length);
    if (chunk)
        chunk->length = length;
    return chunk;
}

struct uw_chunk *uw_chunk_take(struct uw_slab *slab)
{
    struct uw_chunk *chunk = uw_slab_take(slab);

    if (chunk)
        *chunk = (struct uw_chunk){.capacity = UW_CHUNK_SLAB_CAPACITY, .file = -1, .slab = slab};
    return chunk;
}

void uw_chunk_add_file(struct uw_chunk *chunk, int fd, int64_t offset, int64_t length)
{
    chunk->file = fd;
    chunk->release = close_file;
    chunk->rest_offset = offset;
    chunk->rest_left = length;
}

void uw_chunk_free(struct uw_chunk *chunk)
{
    if (chunk->release)
        chunk->release(chunk);
    if (chunk->slab)
        uw_slab_give(chunk->slab, chunk);
    else
        free(chunk);
}
