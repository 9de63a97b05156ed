/* Frames of the WebSocket protocol (RFC 6455, section 5.2): pure functions on bytes. */
#ifndef UW_WEBSOCKET_FRAME_H
#define UW_WEBSOCKET_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "push/close_code.h"

#define UW_FRAME_HEAD_BYTES_MAX 14     /* with a mask */
#define UW_FRAME_CONTROL_BYTES_MAX 125 /* payload of a control frame: section 5.5 */

enum uw_opcode {
    UW_OPCODE_CONTINUATION = 0,
    UW_OPCODE_TEXT = 1,
    UW_OPCODE_BINARY = 2,
    UW_OPCODE_CLOSE = 8,
    UW_OPCODE_PING = 9,
    UW_OPCODE_PONG = 10,
};

struct uw_frame {
    uint8_t opcode;
    bool fin;
    bool compressed; /* RSV1: RFC 7692, section 6 */
    bool masked;
    uint8_t mask[4];
    uint64_t length;   /* of the payload */
    size_t head_bytes; /* of the head */
};

/* Reads the head of a client's frame. Returns 1; 0 when more bytes are needed; or the negative close code for an
 * invalid frame. `may_compress`: permessage-deflate was agreed upon. */
int uw_frame_read(struct uw_frame *frame, const char *bytes, size_t length, bool may_compress);

/* Writes the head of a server's whole message, or of one control frame, of `length` bytes. Returns its own length. */
size_t uw_frame_write_head(char *at, enum uw_opcode opcode, bool compressed, uint64_t length);

/* Returns the length of the head that uw_frame_write_head wrote. */
size_t uw_frame_head_bytes(const char *frame);

#define UW_FRAME_OPCODE 0x0f /* of its first byte */

static inline bool uw_frame_is_control(const struct uw_frame *frame)
{
    return frame->opcode >= UW_OPCODE_CLOSE;
}

/* Applies or removes the mask (section 5.3): `to` may be `from`. `position`: of the first byte in the payload. */
void uw_frame_mask(char *to, const char *from, size_t length, const uint8_t mask[4], uint64_t position);

#endif
