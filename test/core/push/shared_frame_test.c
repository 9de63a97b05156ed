/* One frame for all who get a message in the same way. */
#include "push/shared_frame.h"

#include "compression/deflate.h"
#include "pub_sub/pub_sub_server_fixture.h"
#include "server/connection.h"

static int frames_made;

static struct uw_chunk *count_frame(struct uw_slab *slab, bool text, const char *bytes, size_t length)
{
    frames_made++;
    return uw_push_client_websocket.frame(slab, text, bytes, length);
}

static struct uw_push_client_kind counting;

static void count_frames(void)
{
    counting = uw_push_client_websocket;
    counting.frame = count_frame;
    for (int i = 0; i < client_count; i++)
        clients[i]->kind = &counting;
    frames_made = 0;
}

TEST(one_frame_for_each_way)
{
    begin(NULL, 4);
    count_frames();
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(0, subscribe(i, "a", false, i < 3 ? UW_SUBSCRIBED_AS_IS : UW_SUBSCRIBED_BINARY, 1));
    CHECK_EQUAL(4, publish("a", "hello"));
    CHECK_EQUAL(2, frames_made);
    CHECK_EQUAL(0, publish("b", "hello"));
    CHECK_EQUAL(2, frames_made);
    for (int i = 0; i < 3; i++)
        expect_text(i, "hello");
    expect_message(3, UW_OPCODE_BINARY, "hello", 5);
    end();
}

static void expect_compressed(int client, const char *message, size_t length)
{
    struct uw_deflate *deflate = uw_deflate_new();
    char head[2], payload[125], *plain;

    CHECK_EQUAL(2, receive_from(fds[client], head, 2));
    CHECK_EQUAL(0xc1, (unsigned char)head[0]);
    CHECK_EQUAL(head[1], receive_from(fds[client], payload, (size_t)head[1]));
    CHECK_EQUAL(length, uw_deflate_decompress(deflate, payload, (size_t)head[1], length, &plain));
    CHECK(memcmp(message, plain, length) == 0);
    uw_deflate_free(deflate);
}

TEST(compressed_once_for_each_window)
{
    static const int windows[] = {15, 15, 0, 9};
    char message[10000];

    if (!uw_deflate_is_possible())
        SKIP("there is no zlib");
    open_server(NULL);
    for (int i = 0; i < 4; i++) {
        next_window_bits = windows[i];
        connect_client();
        CHECK_EQUAL(0, subscribe(i, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    }
    count_frames();
    memset(message, 'x', sizeof message);
    CHECK_EQUAL(4, publish_bytes("a", message, sizeof message, true));
    CHECK_EQUAL(3, frames_made);
    expect_compressed(0, message, sizeof message);
    expect_compressed(1, message, sizeof message);
    expect_message(2, UW_OPCODE_TEXT, message, sizeof message);
    expect_compressed(3, message, sizeof message);
    AWAIT(channels_of_server()->chunks.taken == 0); /* once all that was sent is told to be */
    end();
}

/* What outlives the message, and the client. */
TEST(frames_that_are_lent)
{
    struct uw_shared_message message = {.bytes = "", .length = 0};
    struct uw_chunk *first, *second;
    char bytes[UW_SHARED_CHUNK_BYTES];

    begin(NULL, 1);
    memset(bytes, 'x', sizeof bytes);
    message.bytes = bytes;
    message.length = sizeof bytes;
    first = uw_shared_chunk(&message, clients[0], true, &channels_of_server()->chunks);
    second = uw_shared_chunk(&message, clients[0], true, &channels_of_server()->chunks);
    CHECK(first->memory && first->memory == second->memory && first->length == 0);
    uw_shared_message_end(&message);
    CHECK(!message.frames);
    uw_chunk_free(first);
    CHECK(memcmp(second->memory + second->rest_left - sizeof bytes, bytes, sizeof bytes) == 0);
    uw_chunk_free(second);
    end();
}

/* Short ones leave in one piece. */
TEST(short_frames_are_merged)
{
    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    AWAIT(!clients[0]->stream.connection->outgoing.first);
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL(1, publish("a", "short"));
    CHECK(clients[0]->stream.connection->outgoing.first == clients[0]->stream.connection->outgoing.last);
    for (int i = 0; i < 10; i++)
        expect_text(0, "short");
    end();
}

TEST_MAIN
