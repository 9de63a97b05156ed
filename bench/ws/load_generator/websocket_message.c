#include "websocket_message.h"

#include <string.h>

#include "load_run.h"
#include "websocket/frame.h"

#define MASKED 0x80
#define LENGTH 0x7f

struct head {
    unsigned char opcode;
    bool last, compressed; /* frame of the message; its payload */
    size_t bytes, length;  /* its own, and the payload's */
};

static size_t write_frame(char *at, enum uw_opcode opcode, bool compressed, const char *bytes, size_t length)
{
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t head = uw_frame_write_head(at, opcode, compressed, length);

    at[1] = (char)(at[1] | MASKED);
    memcpy(at + head, mask, sizeof mask);
    uw_frame_mask(at + head + sizeof mask, bytes, length, mask, 0);
    return head + sizeof mask + length;
}

size_t message_of_text(char *at, const char *bytes, size_t length)
{
    return write_frame(at, UW_OPCODE_TEXT, false, bytes, length);
}

size_t message_of_deflated_text(char *at, const char *bytes, size_t length)
{
    return write_frame(at, UW_OPCODE_TEXT, true, bytes, length);
}

size_t message_of_close(char *at)
{
    return write_frame(at, UW_OPCODE_CLOSE, false, "\x03\xe8", 2);
}

/* Of a server's frame, which has no mask. Returns whether it is there. */
static bool read_head(struct head *head, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;

    if (length < 2 || length < uw_frame_head_bytes(bytes))
        return false;
    *head = (struct head){.opcode = at[0] & UW_FRAME_OPCODE, .last = at[0] & 0x80, .compressed = at[0] & 0x40};
    head->bytes = uw_frame_head_bytes(bytes);
    head->length = at[1] & LENGTH;
    if (head->bytes > 2)
        head->length = 0;
    for (size_t i = 2; i < head->bytes; i++)
        head->length = head->length << 8 | at[i];
    return true;
}

static void take_message(struct peer *peer, const char *payload, size_t length, bool compressed)
{
    char *bytes = (char *)payload;
    long result = (long)length;

    if (compressed)
        result = uw_deflate_decompress(peer->run->deflate, payload, length, MESSAGE_BYTES_MAX, &bytes);
    if (result < 0)
        peer_fail(peer, "a message does not decompress");
    else
        peer->kind->received(peer, bytes, (size_t)result);
}

static void take_part(struct peer *peer, const struct head *head, const char *payload)
{
    if (head->opcode != UW_OPCODE_CONTINUATION)
        peer->compressed = head->compressed;
    kept_append(&peer->parts, payload, head->length);
    if (!head->last)
        return;
    take_message(peer, peer->parts.bytes, peer->parts.length, peer->compressed);
    peer->parts.length = 0;
}

/* A pong for a ping; none while something else is on its way, which proves as well that somebody is there. */
static void take_ping(struct peer *peer, const struct head *head, const char *payload)
{
    if (!peer->send.pending)
        peer_send(peer, peer->control, write_frame(peer->control, UW_OPCODE_PONG, false, payload, head->length));
}

static void take_frame(struct peer *peer, const struct head *head, const char *payload)
{
    if (head->opcode < UW_OPCODE_CLOSE && head->last && head->opcode)
        take_message(peer, payload, head->length, head->compressed);
    else if (head->opcode < UW_OPCODE_CLOSE)
        take_part(peer, head, payload);
    else if (head->opcode == UW_OPCODE_PING && head->length <= UW_FRAME_CONTROL_BYTES_MAX)
        take_ping(peer, head, payload);
    else if (head->opcode == UW_OPCODE_CLOSE && peer->closing)
        peer_end(peer);
    else if (head->opcode != UW_OPCODE_PONG)
        peer_fail(peer, "the server has closed a WebSocket");
}

size_t messages_read(struct peer *peer, const char *bytes, size_t length)
{
    struct head head;
    size_t at = 0;

    while (peer->state == PEER_OPEN && read_head(&head, bytes + at, length - at) &&
           length - at - head.bytes >= head.length) {
        take_frame(peer, &head, bytes + at + head.bytes);
        at += head.bytes + head.length;
    }
    return at;
}
