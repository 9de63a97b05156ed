#include "compression/deflate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compression/zlib_library.h"

#define LEVEL 1 /* the fastest of zlib's nine levels */
#define MEMORY_LEVEL 8
#define ZLIB_WINDOW_BITS_MIN 9 /* minimum of zlib for raw deflate */
#define SCRATCH_BYTES_MIN 16384
#define INPUT_BYTES_MAX INT_MAX
#define AT_BLOCK_END 128 /* flag of data_type: inflate stopped at the end of a block, see inflate() in zlib.h */

static const char tail[] = {0, 0, (char)0xff,
                            /* RFC 7692, section 7.2.1: the end of each compressed message, which is never sent. */
                            (char)0xff};

struct uw_deflate {
    z_stream compressors[UW_WINDOW_BITS_MAX + 1]; /* index: window bits. A compressor opens at its first use */
    z_stream decompressor;
    bool decompressor_is_open; /* `decompressor` is open */
    char *scratch;
    size_t capacity;
};

bool uw_deflate_is_possible(void)
{
    return !uw_zlib_missing();
}

struct uw_deflate *uw_deflate_new(void)
{
    return uw_zlib_missing() ? NULL : calloc(1, sizeof(struct uw_deflate));
}

void uw_deflate_free(struct uw_deflate *deflate)
{
    if (!deflate)
        return;
    for (int bits = 0; bits <= UW_WINDOW_BITS_MAX; bits++)
        if (deflate->compressors[bits].state)
            (void)deflateEnd(&deflate->compressors[bits]);
    if (deflate->decompressor_is_open)
        (void)inflateEnd(&deflate->decompressor);
    free(deflate->scratch);
    free(deflate);
}

/* A buffer larger than UW_DEFLATE_SCRATCH_BYTES_MAX is not kept for later messages. */
static int fit_scratch(struct uw_deflate *deflate, size_t length)
{
    char *scratch;

    if (length < SCRATCH_BYTES_MIN)
        length = SCRATCH_BYTES_MIN;
    if (length <= deflate->capacity && deflate->capacity <= UW_DEFLATE_SCRATCH_BYTES_MAX)
        return 0;
    free(deflate->scratch);
    deflate->capacity = 0;
    scratch = deflate->scratch = malloc(length);
    if (!scratch)
        return -ENOMEM;
    deflate->capacity = length;
    return 0;
}

static z_stream *reset_compressor(struct uw_deflate *deflate, int bits)
{
    z_stream *stream = &deflate->compressors[bits];

    if (stream->state)
        return deflateReset(stream) == Z_OK ? stream : NULL;
    return deflateInit2(stream, LEVEL, Z_DEFLATED, -bits, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK ? stream : NULL;
}

/* Compresses all input including the tail. Returns false if the scratch buffer is too small. */
static bool compress_all(z_stream *stream, const char *start)
{
    return deflate(stream, Z_SYNC_FLUSH) == Z_OK && stream->avail_in == 0 && stream->avail_out > 0 &&
           stream->next_out - (const Bytef *)start > (long)sizeof tail &&
           memcmp(stream->next_out - sizeof tail, tail, sizeof tail) == 0;
}

long uw_deflate_compress(struct uw_deflate *deflate, int window_bits, const char *bytes, size_t length, char **result)
{
    z_stream *stream = NULL;

    if (window_bits >= ZLIB_WINDOW_BITS_MIN && length <= INPUT_BYTES_MAX && !fit_scratch(deflate, length))
        stream = reset_compressor(deflate, window_bits);
    if (!stream)
        return -1;
    stream->next_in = (Bytef *)bytes; /* zlib does not write to the input */
    stream->avail_in = (uInt)length;
    stream->next_out = (Bytef *)deflate->scratch;
    stream->avail_out = (uInt)length;
    if (!compress_all(stream, deflate->scratch))
        return -1;
    *result = deflate->scratch;
    return (long)(length - stream->avail_out - sizeof tail);
}

static z_stream *reset_decompressor(struct uw_deflate *deflate)
{
    z_stream *stream = &deflate->decompressor;

    if (deflate->decompressor_is_open)
        return inflateReset(stream) == Z_OK ? stream : NULL;
    deflate->decompressor_is_open = inflateInit2(stream, -UW_WINDOW_BITS_MAX) == Z_OK;
    return deflate->decompressor_is_open ? stream : NULL;
}

/* Grows the buffer to at most one byte beyond the limit. A message with this byte is too long. */
static int grow_scratch(struct uw_deflate *deflate, z_stream *stream, size_t length_max)
{
    size_t used = deflate->capacity - stream->avail_out, capacity = 2 * deflate->capacity;
    char *scratch;

    if (deflate->capacity > length_max)
        return -E2BIG;
    if (capacity > length_max + 1)
        capacity = length_max + 1;
    scratch = realloc(deflate->scratch, capacity);
    if (!scratch)
        return -ENOMEM;
    deflate->scratch = scratch;
    deflate->capacity = capacity;
    stream->next_out = (Bytef *)scratch + used;
    stream->avail_out = (uInt)(capacity - used);
    return 0;
}

/* Decompresses the next part of the stream. RFC 7692, section 7.2.3.5: further blocks may follow a block with BFINAL
 * set. */
static int decompress_part(struct uw_deflate *deflate, z_stream *stream, const char *bytes, size_t length,
                           size_t length_max)
{
    int error = 0;

    stream->next_in = (Bytef *)bytes;
    stream->avail_in = (uInt)length;
    while (!error) {
        int status = inflate(stream, Z_SYNC_FLUSH);

        if (status == Z_STREAM_END) {
            status = inflateReset(stream);
            stream->data_type = AT_BLOCK_END;
        }
        if (status != Z_OK && status != Z_BUF_ERROR)
            return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
        if (stream->avail_in == 0 && (stream->avail_out > 0 || stream->data_type & AT_BLOCK_END))
            return 0;
        if (stream->avail_out == 0)
            error = grow_scratch(deflate, stream, length_max);
        else if (status == Z_BUF_ERROR)
            return -EBADMSG;
    }
    return error;
}

long uw_deflate_decompress(struct uw_deflate *deflate, const char *bytes, size_t length, size_t length_max,
                           char **result)
{
    z_stream *stream = fit_scratch(deflate, 0) ? NULL : reset_decompressor(deflate);
    size_t produced;
    int error;

    if (!stream || length > INPUT_BYTES_MAX)
        return -ENOMEM;
    stream->next_out = (Bytef *)deflate->scratch;
    stream->avail_out = (uInt)deflate->capacity;
    error = decompress_part(deflate, stream, bytes, length, length_max);
    if (!error)
        error = decompress_part(deflate, stream, tail, sizeof tail, length_max);
    if (!error && !(stream->data_type & AT_BLOCK_END))
        error = -EBADMSG; /* the message is truncated */
    produced = deflate->capacity - stream->avail_out;
    *result = deflate->scratch;
    if (!error && produced > length_max)
        error = -E2BIG;
    return error ? error : (long)produced;
}
