/* The chunked decoder must give the same data however the bytes are cut. The first byte of the input is the size of the
 * pieces. */
#include <stdlib.h>
#include <string.h>

#include "http1/chunked.h"

struct outcome {
    int64_t result;
    uint64_t length, hash;
    bool done;
};

static struct outcome feed(const uint8_t *bytes, size_t length, size_t piece)
{
    struct outcome outcome = {.hash = 1};
    struct uw_http_chunked chunked;
    size_t at = 0;

    uw_http_chunked_init(&chunked);
    while (at < length && !chunked.done) {
        size_t size = length - at < piece ? length - at : piece, data_length;
        char *copy = malloc(size);
        const char *data;
        int64_t used;

        if (!copy)
            abort();
        memcpy(copy, bytes + at, size);
        used = uw_http_chunked_read(&chunked, copy, size, &data, &data_length);
        if (used > (int64_t)size || (used >= 0 && (data < copy || data + data_length > copy + size)))
            abort();
        for (size_t i = 0; used >= 0 && i < data_length; i++)
            outcome.hash = outcome.hash * 31 + (unsigned char)data[i];
        free(copy);
        if (used < 0) {
            outcome.result = used;
            return outcome;
        }
        outcome.length += data_length;
        at += (size_t)used;
    }
    outcome.result = (int64_t)at;
    outcome.done = chunked.done;
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;

    if (size < 2)
        return 0;
    whole = feed(data + 1, size - 1, size);
    pieces = feed(data + 1, size - 1, data[0] % 16 + 1);
    if (whole.result != pieces.result || whole.done != pieces.done ||
        (whole.result >= 0 && (whole.length != pieces.length || whole.hash != pieces.hash)))
        abort();
    return 0;
}
