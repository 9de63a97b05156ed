#include "bus/bus_frame.h"

#include <errno.h>
#include <string.h>

#define START "UB\x01" /* magic number and version of the format */
#define START_BYTES (sizeof START - 1)
#define CHANNEL_LENGTH_AT 4
#define MESSAGE_LENGTH_AT 8

static uint32_t read_number(const char *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void write_number(char *at, size_t number)
{
    for (int i = 3; i >= 0; i--, number >>= 8)
        at[i] = (char)(number & 0xff);
}

static bool starts_frame(const char *bytes, size_t length)
{
    return memcmp(bytes, START, length < START_BYTES ? length : START_BYTES) == 0;
}

static int read_head(struct uw_bus_frame *frame, const char *bytes)
{
    frame->flags = (unsigned char)bytes[START_BYTES];
    frame->channel_length = read_number(bytes + CHANNEL_LENGTH_AT);
    frame->message_length = read_number(bytes + MESSAGE_LENGTH_AT);
    frame->length = uw_bus_frame_bytes(frame->channel_length, frame->message_length);
    return frame->length && frame->flags <= (UW_BUS_TEXT | UW_BUS_HELLO) ? 0 : -EPROTO;
}

int uw_bus_frame_read(struct uw_bus_frame *frame, const char *bytes, size_t length)
{
    *frame = (struct uw_bus_frame){.length = UW_BUS_FRAME_HEAD_BYTES};
    if (!starts_frame(bytes, length))
        return -EPROTO;
    if (length < UW_BUS_FRAME_HEAD_BYTES)
        return 0;
    if (read_head(frame, bytes))
        return -EPROTO;
    frame->channel = bytes + UW_BUS_FRAME_HEAD_BYTES;
    frame->message = frame->channel + frame->channel_length;
    return length >= frame->length;
}

size_t uw_bus_frame_bytes(size_t channel_length, size_t message_length)
{
    if (channel_length > UW_BUS_CHANNEL_BYTES_MAX || message_length > UW_BUS_MESSAGE_BYTES_MAX)
        return 0;
    return UW_BUS_FRAME_HEAD_BYTES + channel_length + message_length;
}

static char *append_bytes(char *at, const char *bytes, size_t length)
{
    if (length) /* `bytes` of an empty part may be NULL */
        memcpy(at, bytes, length);
    return at + length;
}

void uw_bus_frame_write(char *at, struct uw_bus_frame *frame)
{
    memcpy(at, START, START_BYTES);
    at[START_BYTES] = (char)frame->flags;
    write_number(at + CHANNEL_LENGTH_AT, frame->channel_length);
    write_number(at + MESSAGE_LENGTH_AT, frame->message_length);
    at = append_bytes(at + UW_BUS_FRAME_HEAD_BYTES, frame->channel, frame->channel_length);
    (void)append_bytes(at, frame->message, frame->message_length);
    frame->length = uw_bus_frame_bytes(frame->channel_length, frame->message_length);
}
