#include "websocket/frame.h"

#include "check.h"
#include "guard_page.h"

static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};

/* As read from memory that ends with it. */
static int read_from(struct uw_frame *frame, const char *bytes, size_t length, bool may_compress)
{
    return uw_frame_read(frame, guard_copy(bytes, length), length, may_compress);
}

#define READ(bytes) read_from(&frame, bytes, sizeof(bytes) - 1, false)

TEST(lengths)
{
    struct uw_frame frame;

    CHECK_EQUAL(1, READ("\x81\x85\x01\x02\x03\x04"));
    CHECK(frame.fin && frame.opcode == UW_OPCODE_TEXT && frame.length == 5 && frame.head_bytes == 6);
    CHECK_EQUAL(1, READ("\x02\xfe\x01\x00\x01\x02\x03\x04"));
    CHECK(!frame.fin && frame.opcode == UW_OPCODE_BINARY && frame.length == 256 && frame.head_bytes == 8);
    CHECK_EQUAL(1, READ("\x82\xff\0\0\0\1\0\0\0\0\x01\x02\x03\x04"));
    CHECK(frame.length == UINT64_C(0x100000000) && frame.head_bytes == 14);
    CHECK(memcmp(frame.mask, "\x01\x02\x03\x04", 4) == 0);
}

TEST(what_has_not_come_yet)
{
    static const char head[] = "\x82\xff\0\0\0\0\0\1\0\0\x01\x02\x03\x04";
    struct uw_frame frame;

    for (size_t length = 0; length < sizeof head - 1; length++)
        CHECK_EQUAL(0, read_from(&frame, head, length, false));
    CHECK_EQUAL(1, read_from(&frame, head, sizeof head - 1, false));
}

TEST(what_no_client_may_send)
{
    struct uw_frame frame;

    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x81\x05")); /* no mask */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x83\x80")); /* opcodes that are none */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x8b\x80"));
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\xa1\x80"));               /* RSV2 */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x91\x80"));               /* RSV3 */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\xc1\x80"));               /* RSV1, not agreed upon */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x09\x80"));               /* a control frame in pieces */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x89\xfe"));               /* one that is too long */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x81\xfe\0\x7d\1\2\3\4")); /* not the shortest form */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x81\xff\0\0\0\0\0\0\xff\xff\1\2\3\4"));
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, READ("\x81\xff\x80\0\0\0\0\0\0\0\1\2\3\4")); /* its first bit is 0 */
}

TEST(compressed_messages)
{
    struct uw_frame frame;

    CHECK_EQUAL(1, read_from(&frame, "\xc1\x80\1\2\3\4", 6, true));
    CHECK(frame.compressed);
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, read_from(&frame, "\xc0\x80\1\2\3\4", 6, true)); /* only the first frame */
    CHECK_EQUAL(-UW_CLOSE_PROTOCOL_ERROR, read_from(&frame, "\xc9\x80\1\2\3\4", 6, true)); /* no control frame */
}

TEST(heads_of_a_server)
{
    char head[UW_FRAME_HEAD_BYTES_MAX];

    CHECK_EQUAL(2, uw_frame_write_head(head, UW_OPCODE_TEXT, false, 125));
    CHECK(memcmp(head, "\x81\x7d", 2) == 0);
    CHECK_EQUAL(4, uw_frame_write_head(head, UW_OPCODE_BINARY, true, 126));
    CHECK(memcmp(head, "\xc2\x7e\0\x7e", 4) == 0);
    CHECK_EQUAL(4, uw_frame_head_bytes(head));
    CHECK_EQUAL(4, uw_frame_write_head(head, UW_OPCODE_BINARY, false, 65535));
    CHECK_EQUAL(10, uw_frame_write_head(head, UW_OPCODE_BINARY, false, 65536));
    CHECK(memcmp(head, "\x82\x7f\0\0\0\0\0\1\0\0", 10) == 0);
    CHECK_EQUAL(10, uw_frame_head_bytes(head));
}

/* The example of RFC 6455, section 5.7. */
TEST(masks)
{
    char text[5];

    uw_frame_mask(text, "\x7f\x9f\x4d\x51\x58", 5, mask, 0);
    CHECK(memcmp(text, "Hello", 5) == 0);
}

TEST(masks_at_every_cut)
{
    char from[41], whole[41], pieces[41];

    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (char)(i * 7);
        whole[i] = (char)(from[i] ^ mask[i % 4]);
    }
    for (size_t cut = 0; cut <= sizeof from; cut++) {
        uw_frame_mask(pieces, from, cut, mask, 0);
        uw_frame_mask(pieces + cut, guard_copy(from + cut, sizeof from - cut), sizeof from - cut, mask, cut);
        CHECK(memcmp(whole, pieces, sizeof whole) == 0);
    }
}

TEST(close_codes)
{
    static const unsigned valid[] = {1000, 1001, 1002, 1003, 1007, 1008, 1009,
                                     1010, 1011, 1012, 1013, 1014, 3000, 4999};
    static const unsigned invalid[] = {0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535};

    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        CHECK(uw_close_code_is_valid(valid[i]));
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK(!uw_close_code_is_valid(invalid[i]));
}

TEST_MAIN
