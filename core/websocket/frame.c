#include "websocket/frame.h"

#include <string.h>

#define FIN 0x80
#define RSV1 0x40
#define RSV2_AND_3 0x30
#define MASKED 0x80
#define LENGTH 0x7f
#define LENGTH_16 126 /* the length is in two more bytes */
#define LENGTH_64 127 /* eight */

static uint64_t big_endian(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

static size_t length_bytes(unsigned char second)
{
    unsigned length = second & LENGTH;

    return length == LENGTH_64 ? 8 : length == LENGTH_16 ? 2 : 0;
}

static bool is_known(uint8_t opcode)
{
    return opcode <= UW_OPCODE_BINARY || (opcode >= UW_OPCODE_CLOSE && opcode <= UW_OPCODE_PONG);
}

/* Checks what the first two bytes show. */
static bool is_allowed(const struct uw_frame *frame, unsigned char first, unsigned char second, bool may_compress)
{
    if (first & RSV2_AND_3 || !is_known(frame->opcode) || !frame->masked)
        return false;
    if (frame->compressed && (!may_compress || frame->opcode == UW_OPCODE_CONTINUATION || uw_frame_is_control(frame)))
        return false;
    return !uw_frame_is_control(frame) || (frame->fin && (second & LENGTH) <= UW_FRAME_CONTROL_BYTES_MAX);
}

/* Its shortest form is the only one (section 5.2). */
static bool is_shortest(uint64_t length, size_t bytes)
{
    if (bytes == 2)
        return length >= LENGTH_16;
    return bytes != 8 || (length > UINT16_MAX && !(length >> 63));
}

static void read_payload_length(struct uw_frame *frame, const unsigned char *at, size_t bytes)
{
    frame->length = bytes ? big_endian(at + 2, bytes) : at[1] & LENGTH;
    memcpy(frame->mask, at + 2 + bytes, sizeof frame->mask);
}

int uw_frame_read(struct uw_frame *frame, const char *bytes, size_t length, bool may_compress)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t more;

    if (length < 2)
        return 0;
    frame->opcode = at[0] & UW_FRAME_OPCODE;
    frame->fin = at[0] & FIN;
    frame->compressed = at[0] & RSV1;
    frame->masked = at[1] & MASKED;
    if (!is_allowed(frame, at[0], at[1], may_compress))
        return -UW_CLOSE_PROTOCOL_ERROR;
    more = length_bytes(at[1]);
    frame->head_bytes = 2 + more + sizeof frame->mask;
    if (length < frame->head_bytes)
        return 0;
    read_payload_length(frame, at, more);
    return is_shortest(frame->length, more) ? 1 : -UW_CLOSE_PROTOCOL_ERROR;
}

size_t uw_frame_write_head(char *at, enum uw_opcode opcode, bool compressed, uint64_t length)
{
    size_t bytes = length > UINT16_MAX ? 8 : length >= LENGTH_16 ? 2 : 0;

    at[0] = (char)(FIN | (compressed ? RSV1 : 0) | opcode);
    at[1] = (char)(bytes == 8 ? LENGTH_64 : bytes == 2 ? LENGTH_16 : (int)length);
    for (size_t i = 0; i < bytes; i++)
        at[2 + i] = (char)(length >> 8 * (bytes - 1 - i));
    return 2 + bytes;
}

size_t uw_frame_head_bytes(const char *frame)
{
    return 2 + length_bytes((unsigned char)frame[1]);
}

/* Masks eight bytes at once, with the mask turned to the first byte's position and repeated. */
void uw_frame_mask(char *to, const char *from, size_t length, const uint8_t mask[4], uint64_t position)
{
    uint8_t turned[8];
    uint64_t wide;
    size_t i = 0;

    for (size_t at = 0; at < sizeof turned; at++)
        turned[at] = mask[(position + at) % 4];
    memcpy(&wide, turned, sizeof wide);
    for (; length - i >= sizeof wide; i += sizeof wide) {
        uint64_t eight;

        memcpy(&eight, from + i, sizeof eight);
        eight ^= wide;
        memcpy(to + i, &eight, sizeof eight);
    }
    for (; i < length; i++)
        to[i] = (char)(from[i] ^ turned[i % 4]);
}
