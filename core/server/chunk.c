#include "server/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct uw_chunk *uw_chunk_file(int fd, int64_t offset, int64_t length)
{
    struct uw_chunk *chunk = uw_chunk_new(length < UW_CHUNK_FILE_BYTES ? (size_t)length : UW_CHUNK_FILE_BYTES);

    if (chunk) {
        chunk->file = fd;
        chunk->file_offset = offset;
        chunk->file_left = length;
    }
    return chunk;
}

void uw_chunk_free(struct uw_chunk *chunk)
{
    if (chunk->file >= 0)
        close(chunk->file);
    free(chunk);
}
