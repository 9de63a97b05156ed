/* Frames carry messages and their channels between members of a bus. These functions have no I/O and no state.
 *
 * A frame begins with a head: "UB", one byte for the version, one byte for the flags, and two lengths of four bytes
 * each (big-endian). The lengths are those of the channel and of the message. The channel and the message follow. */
#ifndef UW_BUS_BUS_FRAME_H
#define UW_BUS_BUS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_BUS_FRAME_HEAD_BYTES 12
#define UW_BUS_CHANNEL_BYTES_MAX 1024
#define UW_BUS_MESSAGE_BYTES_MAX (4 * 1024 * 1024)
#define UW_BUS_FRAME_BYTES_MAX (UW_BUS_FRAME_HEAD_BYTES + UW_BUS_CHANNEL_BYTES_MAX + UW_BUS_MESSAGE_BYTES_MAX)

enum uw_bus_flag {
    UW_BUS_TEXT = 1,
    UW_BUS_HELLO = 2, /* the first frame of a connection. Its channel is the name of the sender's socket */
};

struct uw_bus_frame {
    unsigned flags;
    const char *channel, *message;
    size_t channel_length, message_length;
    size_t length; /* length of the whole frame */
};

/* Reads a frame from `length` bytes. `channel` and `message` point into `bytes`. Returns 1 for a complete frame.
 * Returns 0 for an incomplete frame: the caller must call again with frame->length bytes. Returns -EPROTO for invalid
 * bytes. */
int uw_bus_frame_read(struct uw_bus_frame *frame, const char *bytes, size_t length);

/* Returns the length of a frame, or 0 for a channel or a message that is too long. */
size_t uw_bus_frame_bytes(size_t channel_length, size_t message_length);

/* Writes the frame to `at`, which has room for uw_bus_frame_bytes. Sets frame->length, which the caller need not
 * set. */
void uw_bus_frame_write(char *at, struct uw_bus_frame *frame);

#endif
