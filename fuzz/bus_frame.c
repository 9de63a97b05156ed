/* Frames of the bus: any bytes are read alike whole and byte by byte, never beyond their end, and what was read is what
 * is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus_frame.h"

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bus_frame: not so: %s\n", what);
    abort();
}

static void check_written_anew(struct uw_bus_frame *frame, const char *bytes)
{
    size_t length = frame->length;
    char *written = malloc(length);

    must(written != NULL, "there is memory");
    uw_bus_frame_write(written, frame);
    must(frame->length == length && memcmp(written, bytes, length) == 0, "what was read is written");
    free(written);
}

/* With ever more bytes, each time in memory that ends with them. Returns what the last reading has. */
static int read_in_pieces(struct uw_bus_frame *frame, const char *bytes, size_t length)
{
    int result = 0;

    for (size_t i = 0; i <= length && result == 0; i++) {
        char *piece = malloc(i ? i : 1);

        must(piece != NULL, "there is memory");
        memcpy(piece, bytes, i);
        result = uw_bus_frame_read(frame, piece, i);
        must(result != 0 || frame->length > i, "more is wanted than there is");
        must(result <= 0 || frame->length == i, "no more is wanted than the frame");
        if (result > 0)
            check_written_anew(frame, piece);
        free(piece);
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct uw_bus_frame whole, pieces;
    int result = uw_bus_frame_read(&whole, bytes, size);

    must(read_in_pieces(&pieces, bytes, size) == result, "it is read alike in pieces");
    must(result < 0 || whole.length == pieces.length, "it is as long in pieces");
    must(result <= 0 || (whole.channel >= bytes && whole.message + whole.message_length <= bytes + size),
         "it is where it was read");
    return 0;
}
