#include "transport/chunk.h"

#include <assert.h>
#include <errno.h>
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
    struct uw_chunk *chunk = uw_slab_alloc(slab);

    if (chunk)
        *chunk = (struct uw_chunk){.capacity = UW_CHUNK_SLAB_CAPACITY, .file = -1, .slab = slab};
    return chunk;
}

static int grow_chunk(struct uw_chunk **chunk, size_t length)
{
    struct uw_chunk *old = *chunk, *larger = uw_chunk_new(2 * (old ? old->capacity : 0) + length);

    if (!larger)
        return -ENOMEM;
    if (old) {
        assert(!old->release);
        memcpy(larger->bytes, old->bytes, old->length);
        larger->length = old->length;
        uw_chunk_free(old);
    }
    *chunk = larger;
    return 0;
}

int uw_chunk_reserve(struct uw_chunk **chunk, size_t length)
{
    return *chunk && length <= (*chunk)->capacity - (*chunk)->length ? 0 : grow_chunk(chunk, length);
}

int uw_chunk_append(struct uw_chunk **chunk, const char *bytes, size_t length)
{
    int error = uw_chunk_reserve(chunk, length);

    if (error)
        return error;
    memcpy((*chunk)->bytes + (*chunk)->length, bytes, length);
    (*chunk)->length += length;
    return 0;
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
        uw_slab_free(chunk->slab, chunk);
    else
        free(chunk);
}
