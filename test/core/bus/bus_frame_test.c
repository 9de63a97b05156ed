/* Frames of the bus, written and read. */
#include <errno.h>

#include "bus/bus_frame.h"
#include "check.h"
#include "guard_page.h"

#define FRAME_BYTES_MAX 100

static char written[FRAME_BYTES_MAX];

static struct uw_bus_frame write_frame(unsigned flags, const char *channel, const char *message)
{
    struct uw_bus_frame frame = {.flags = flags,
                                 .channel = channel,
                                 .channel_length = strlen(channel),
                                 .message = message,
                                 .message_length = strlen(message)};

    uw_bus_frame_write(written, &frame);
    return frame;
}

static int read_written(struct uw_bus_frame *frame, size_t length)
{
    return uw_bus_frame_read(frame, guard_copy(written, length), length);
}

static void check_round_trip(unsigned flags, const char *channel, const char *message)
{
    struct uw_bus_frame from = write_frame(flags, channel, message), to;

    CHECK_EQUAL(UW_BUS_FRAME_HEAD_BYTES + strlen(channel) + strlen(message), from.length);
    CHECK_EQUAL(1, read_written(&to, from.length));
    CHECK_EQUAL(flags, to.flags);
    CHECK_EQUAL(from.length, to.length);
    CHECK_EQUAL(strlen(channel), to.channel_length);
    CHECK(memcmp(channel, to.channel, to.channel_length) == 0);
    CHECK_EQUAL(strlen(message), to.message_length);
    CHECK(memcmp(message, to.message, to.message_length) == 0);
}

TEST(what_is_written_is_read)
{
    check_round_trip(0, "channel", "message");
    check_round_trip(UW_BUS_TEXT, "channel", "");
    check_round_trip(UW_BUS_TEXT, "", "message");
    check_round_trip(UW_BUS_HELLO, "1-0123456789abcdef.bus", "");
    check_round_trip(0, "", "");
}

TEST(what_is_missing_is_told)
{
    size_t length = write_frame(UW_BUS_TEXT, "channel", "message").length;
    struct uw_bus_frame frame;

    for (size_t i = 0; i < length; i++) {
        CHECK_EQUAL(0, read_written(&frame, i));
        CHECK_EQUAL(i < UW_BUS_FRAME_HEAD_BYTES ? UW_BUS_FRAME_HEAD_BYTES : length, frame.length);
    }
}

TEST(a_broken_frame_is_told_as_soon_as_it_is_seen)
{
    struct uw_bus_frame frame;

    for (size_t at = 0; at < 4; at++) { /* magic, version, flags */
        (void)write_frame(UW_BUS_TEXT, "channel", "message");
        written[at] ^= 0x40;
        CHECK_EQUAL(0, read_written(&frame, at));
        CHECK_EQUAL(-EPROTO, read_written(&frame, at < 3 ? at + 1 : UW_BUS_FRAME_HEAD_BYTES));
    }
}

static int read_lengths(unsigned channel, unsigned message)
{
    struct uw_bus_frame frame;

    (void)write_frame(0, "", "");
    for (int i = 0; i < 4; i++) {
        written[4 + i] = (char)(channel >> (24 - 8 * i) & 0xff);
        written[8 + i] = (char)(message >> (24 - 8 * i) & 0xff);
    }
    return read_written(&frame, UW_BUS_FRAME_HEAD_BYTES);
}

TEST(lengths_have_limits)
{
    CHECK_EQUAL(0, read_lengths(UW_BUS_CHANNEL_BYTES_MAX, UW_BUS_MESSAGE_BYTES_MAX));
    CHECK_EQUAL(-EPROTO, read_lengths(UW_BUS_CHANNEL_BYTES_MAX + 1, 0));
    CHECK_EQUAL(-EPROTO, read_lengths(0, UW_BUS_MESSAGE_BYTES_MAX + 1));
    CHECK_EQUAL(-EPROTO, read_lengths(0xffffffff, 0xffffffff));
    CHECK_EQUAL(UW_BUS_FRAME_BYTES_MAX, uw_bus_frame_bytes(UW_BUS_CHANNEL_BYTES_MAX, UW_BUS_MESSAGE_BYTES_MAX));
    CHECK_EQUAL(0, uw_bus_frame_bytes(UW_BUS_CHANNEL_BYTES_MAX + 1, 0));
    CHECK_EQUAL(0, uw_bus_frame_bytes(0, SIZE_MAX));
}

TEST_MAIN
