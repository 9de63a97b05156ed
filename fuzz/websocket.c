/* A WebSocket over a transport in memory: any bytes behind the handshake, cut anywhere, read and sent at any pace by an
 * unruly client. What it has received must be frames, with nothing behind a close. */
#include "websocket/websocket_protocol.h"

#include "client_fixture.h"
#include "websocket/frame.h"

static const char handshake[] = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
static const char accepted[] = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n";

static bool compresses;

static void upgrade(struct uw_request *request)
{
    make_client(request, &uw_push_client_websocket, accepted);
}

/* One frame of the server's, or a part of it at the end. Returns its whole length; 0: no more can follow. */
static size_t check_frame(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t head, payload = 0;

    if (length < 2 || length < uw_frame_head_bytes(bytes))
        return 0;
    head = uw_frame_head_bytes(bytes);
    must(at[0] & 0x80 && !(at[0] & (compresses ? 0x30 : 0x70)) && !(at[1] & 0x80), "whole messages without a mask");
    for (size_t i = 2; i < head; i++)
        payload = payload << 8 | at[i];
    if (head == 2)
        payload = at[1];
    switch (at[0] & UW_FRAME_OPCODE) {
    case UW_OPCODE_TEXT:
    case UW_OPCODE_BINARY:
        must(payload <= MESSAGE_BYTES_MAX, "no more than was sent");
        break;
    case UW_OPCODE_CLOSE:
        must(payload != 1 && (payload == 0 || length < 4 || uw_close_code_is_valid((unsigned)at[2] << 8 | at[3])),
             "a code that may be sent");
        must(length <= head + payload, "nothing behind a close");
        break;
    default:
        must((at[0] & UW_FRAME_OPCODE) == UW_OPCODE_PING || (at[0] & UW_FRAME_OPCODE) == UW_OPCODE_PONG, "an opcode");
        must(payload <= UW_FRAME_CONTROL_BYTES_MAX, "a control frame is short");
    }
    return head + payload;
}

static void check_output(const struct fake *fake)
{
    size_t at = sizeof accepted - 1, count = 1;

    if (fake->output_length < at)
        return;
    if (memcmp(fake->output, accepted, at) != 0) {
        must(!client, "the answer comes first"); /* or it was refused */
        return;
    }
    for (; count && at < fake->output_length; at += count)
        count = check_frame(fake->output + at, fake->output_length - at);
    must(at <= fake->output_length || !fake->shut || !count, "the last frame is whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fake fake;
    struct input input;

    if (!read_input(&input, &fake, data, size))
        return 0;
    compresses = way & 1;
    posted = "posted";
    posted_length = strlen(posted);
    run(&fake, &input, handshake);
    check_output(&fake);
    fake_free(&fake);
    return 0;
}
