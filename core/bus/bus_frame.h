/* Frames carry messages and their channels between members of a bus. The functions are pure functions on bytes.
 *
 * A frame: "UB", the version, the flags (one byte each), the length of the channel and that of the message (four bytes
 * each, most significant first), the channel, the message. */
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
    UW_BUS_HELLO = 2, /* the first of a connection: its channel is the name of the sender's socket */
};

struct uw_bus_frame {
    unsigned flags;
    const char *channel, *message;
    size_t channel_length, message_length;
    size_t length; /* of the frame */
};

/* Reads a frame from the first of `length` bytes; its channel and message point into them. Returns 1; 0 when the caller
 * must read again with frame->length bytes; or -EPROTO for invalid bytes. */
int uw_bus_frame_read(struct uw_bus_frame *frame, const char *bytes, size_t length);

/* The length of a frame; 0 when the channel or the message is too long. */
size_t uw_bus_frame_bytes(size_t channel_length, size_t message_length);

/* Writes it, but for its own length, which is set. */
void uw_bus_frame_write(char *at, struct uw_bus_frame *frame);

#endif
