/* WebSockets over real sockets, with a handler that answers each message with itself, at once or when it is told to. */
#include "websocket/websocket_protocol.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "compression/deflate.h"
#include "push/push_client_echo_server.h"
#include "server/connection.h"
#include "websocket/frame.h"
#include "websocket/handshake.h"

#define FLOOD_FRAMES 10000
#define FRAMES_AT_ONCE 1000
#define REQUEST_HEAD \
    "GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

static const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};

static void upgrade(struct uw_request *request)
{
    const struct uw_response_writer *writer = request->writer;
    struct uw_http_response response = {.status = 101, .version = UW_HTTP_1_1, .upgrade = true};
    struct uw_deflate_terms terms;
    struct uw_chunk *chunk = NULL;

    CHECK(uw_websocket_is_wanted(&request->head, request->bytes));
    CHECK_EQUAL(0, writer->status(&chunk, &response));
    CHECK_EQUAL(0, uw_websocket_accept(writer, &chunk, &request->head, request->bytes, &terms));
    CHECK_EQUAL(0, writer->connection(&chunk, &response));
    CHECK_EQUAL(0, writer->end_head(&chunk));
    client = uw_push_client_new(&server.server_context, &uw_push_client_websocket, NULL);
    client->window_bits = terms.window_bits;
    hand_over_upgrade(request, chunk);
}

/* A masked frame; returns its length. */
static size_t make_frame(char *frame, unsigned char first, const char *payload, size_t length)
{
    size_t head = uw_frame_write_head(frame, UW_OPCODE_TEXT, false, length);

    frame[0] = (char)first;
    frame[1] |= (char)0x80;
    memcpy(frame + head, mask, sizeof mask);
    uw_frame_mask(frame + head + sizeof mask, payload, length, mask, 0);
    return head + sizeof mask + length;
}

static void send_frame(unsigned char first, const char *payload, size_t length)
{
    char *frame = malloc(length + UW_FRAME_HEAD_BYTES_MAX);

    send_bytes(frame, make_frame(frame, first, payload, length));
    free(frame);
}

#define SEND(first, payload) send_frame(first, payload, sizeof(payload) - 1)

static void expect_message(enum uw_opcode opcode, const char *payload, size_t length)
{
    char head[UW_FRAME_HEAD_BYTES_MAX];

    expect(head, uw_frame_write_head(head, opcode, false, length));
    expect(payload, length);
}

static void connect_client(const char *more)
{
    static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

    fd = connect_to(listener);
    send_bytes(REQUEST_HEAD, sizeof REQUEST_HEAD - 1);
    send_bytes(more, strlen(more));
    EXPECT(answer);
}

static void begin(const char *backend)
{
    open_server(backend);
    connect_client("\r\n");
    EXPECT("Connection: upgrade\r\n\r\n");
}

/* Tests */

static void echo(const char *backend)
{
    static const size_t lengths[] = {0, 1, 125, 126, 127, 1000, 65535, 65536, MESSAGE_BYTES_MAX};
    char *payload = malloc(MESSAGE_BYTES_MAX);

    memset(payload, 'x', MESSAGE_BYTES_MAX);
    begin(backend);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        send_frame(0x81, payload, lengths[i]);
        expect_message(UW_OPCODE_TEXT, payload, lengths[i]);
        send_frame(0x82, payload, lengths[i]);
        expect_message(UW_OPCODE_BINARY, payload, lengths[i]);
    }
    SEND(0x88, "\x03\xe8");
    EXPECT("\x88\x02\x03\xe8");
    expect_end();
    end("otbtbtbtbtbtbtbtbtbc");
    free(payload);
}

TEST(messages_of_all_lengths)
{
    on_each_backend(echo);
}

/* Fragments, a ping among them, and what comes a byte at a time. */
static void fragments(const char *backend)
{
    static const char expected[] = "\x8a\x02hi\x81\x0aH\xc3\xa4ll\xc3\xb6 du\x82\x00";
    char bytes[200];
    size_t length = make_frame(bytes, 0x01, "H\xc3", 2);

    length += make_frame(bytes + length, 0x89, "hi", 2);
    length += make_frame(bytes + length, 0x00, "\xa4ll\xc3", 4);
    length += make_frame(bytes + length, 0x8a, "unasked", 7);
    length += make_frame(bytes + length, 0x00, "", 0);
    length += make_frame(bytes + length, 0x80, "\xb6 du", 4);
    length += make_frame(bytes + length, 0x02, "", 0);
    length += make_frame(bytes + length, 0x80, "", 0);
    begin(backend);
    send_bytes(bytes, length);
    EXPECT(expected);
    for (size_t i = 0; i < length; i++)
        send_bytes(bytes + i, 1);
    EXPECT(expected);
    close_client(); /* without a word */
    end("otbtbc");
}

TEST(messages_in_fragments)
{
    on_each_backend(fragments);
}

struct breach {
    const char *name;
    unsigned char first;
    const char *payload;
    size_t length;
    const char *answer; /* of four bytes */
};

#define BREACH(name, first, payload, answer) \
    { \
        name, first, payload, sizeof(payload) - 1, answer \
    }

static const struct breach breaches[] = {
    BREACH("a continuation of nothing", 0x80, "a", "\x88\x02\x03\xea"),
    BREACH("RSV1 without an extension", 0xc1, "a", "\x88\x02\x03\xea"),
    BREACH("RSV2", 0xa2, "a", "\x88\x02\x03\xea"),
    BREACH("RSV3 of a ping", 0x99, "a", "\x88\x02\x03\xea"),
    BREACH("an opcode that is none", 0x83, "a", "\x88\x02\x03\xea"),
    BREACH("a control opcode that is none", 0x8b, "", "\x88\x02\x03\xea"),
    BREACH("a ping in fragments", 0x09, "a", "\x88\x02\x03\xea"),
    BREACH("text that is none", 0x81, "a\xff", "\x88\x02\x03\xef"),
    BREACH("text that ends within a character", 0x81, "a\xe2\x82", "\x88\x02\x03\xef"),
    BREACH("text that is none, and would go on", 0x01, "\xf4\x90", "\x88\x02\x03\xef"),
    BREACH("a close of one byte", 0x88, "a", "\x88\x02\x03\xea"),
    BREACH("a close code that is never sent", 0x88, "\x03\xee", "\x88\x02\x03\xea"),
    BREACH("a close code of nobody's", 0x88, "\x07\xd0", "\x88\x02\x03\xea"),
    BREACH("a reason that is no text", 0x88, "\x03\xe8\xff", "\x88\x02\x03\xef"),
    BREACH("nothing wrong: a close with a reason", 0x88,
           "\x0b\xb8"
           "bye",
           "\x88\x02\x0b\xb8"),
};

/* The message before is answered, and the ping behind is not. */
static void breach(const char *backend)
{
    for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++) {
        char bytes[200];
        int failures = check_failures;
        size_t length = make_frame(bytes, 0x81, "first", 5);

        length += make_frame(bytes + length, breaches[i].first, breaches[i].payload, breaches[i].length);
        length += make_frame(bytes + length, 0x89, "", 0);
        begin(backend);
        send_bytes(bytes, length);
        EXPECT("\x81\x05"
               "first");
        expect(breaches[i].answer, 4);
        expect_end();
        end("otc");
        if (check_failures > failures)
            printf("in: %s (%s)\n", breaches[i].name, backend);
    }
}

TEST(breaches_end_it_with_their_code)
{
    on_each_backend(breach);
}

/* Likewise while the handler is still busy with the message before. */
static void breach_while_busy(const char *backend)
{
    for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++) {
        begin(backend);
        keeps = true;
        SEND(0x81, "first");
        send_frame(breaches[i].first, breaches[i].payload, breaches[i].length);
        SEND(0x81, "never");
        for (int turns = 0; turns < TURNS_MAX && !waiting; turns++)
            turn();
        keeps = false;
        answer_waiting();
        EXPECT("\x81\x05"
               "first");
        expect(breaches[i].answer, 4);
        expect_end();
        end("otc");
    }
}

TEST(breaches_wait_for_what_came_before)
{
    on_each_backend(breach_while_busy);
}

static void too_big(const char *backend)
{
    char frame[UW_FRAME_HEAD_BYTES_MAX];
    size_t head = uw_frame_write_head(frame, UW_OPCODE_TEXT, false, MESSAGE_BYTES_MAX + 1);

    begin(backend);
    frame[1] |= (char)0x80;
    send_bytes(frame, head);
    send_bytes((const char *)mask, sizeof mask); /* and not one byte of it */
    EXPECT("\x88\x02\x03\xf1");
    expect_end();
    end("oc");

    begin(backend); /* in fragments, too */
    for (int i = 0; i < 3; i++) {
        char *piece = calloc(1, MESSAGE_BYTES_MAX / 2);

        send_frame(i ? 0x00 : 0x02, piece, MESSAGE_BYTES_MAX / 2);
        free(piece);
    }
    EXPECT("\x88\x02\x03\xf1");
    expect_end();
    end("oc");
}

TEST(messages_that_are_too_big)
{
    on_each_backend(too_big);
}

/* The answers to `count` messages. */
static void expect_flood(size_t count)
{
    static const char frame[] = "\x81\x04"
                                "0123";
    static char frames[FRAMES_AT_ONCE * (sizeof frame - 1)];
    size_t bytes = sizeof frame - 1;

    for (size_t i = 0; i < FRAMES_AT_ONCE; i++)
        memcpy(frames + i * bytes, frame, bytes);
    for (; count > FRAMES_AT_ONCE; count -= FRAMES_AT_ONCE)
        expect(frames, sizeof frames);
    expect(frames, count * bytes);
}

/* A handler that is busy does not have the client read without end, and gets all of it in the end. */
static void flood(const char *backend)
{
    static char bytes[FLOOD_FRAMES * 100];
    size_t frame = make_frame(bytes, 0x81, "0123", 4), length = FLOOD_FRAMES * frame, sent = 0;

    for (size_t at = frame; at < length; at += frame)
        memcpy(bytes + at, bytes, frame);
    begin(backend);
    keeps = true;
    for (int quiet = 0; quiet < 50;) {
        ssize_t count = send(fd, bytes + sent % length, length - sent % length, MSG_NOSIGNAL | MSG_DONTWAIT);

        quiet = count > 0 ? 0 : quiet + 1;
        sent += count > 0 ? (size_t)count : 0;
        turn();
    }
    CHECK(waiting != NULL);
    CHECK(client->waiting <= UW_INBOX_EVENTS_MAX);
    keeps = false;
    answer_waiting();
    expect_flood(sent / frame);
    close_client();
    close_server();
}

TEST(a_client_that_sends_more_than_is_served)
{
    buffer_bytes = SMALL_BUFFER_BYTES;
    on_each_backend(flood);
    buffer_bytes = 0;
}

/* All that came before the end of the connection is served, and the handler hears of the end last. */
static void vanish(const char *backend)
{
    begin(backend);
    keeps = true;
    for (int i = 0; i < 3; i++)
        SEND(0x82, "abc");
    close(fd);
    for (int i = 0; i < 100 && !waiting; i++)
        turn();
    for (int i = 0; i < TURNS_MAX && uw_server_connections(&server); i++) {
        if (waiting)
            answer_waiting();
        turn();
    }
    CHECK_EQUAL(0, uw_server_connections(&server));
    CHECK(!uw_push_client_is_open(client));
    end("obbbc");
}

TEST(a_client_that_vanishes)
{
    on_each_backend(vanish);
}

static void failing(const char *backend)
{
    begin(backend);
    fails = true;
    SEND(0x81, "a");
    EXPECT("\x81\x01"
           "a\x88\x02\x03\xf3");
    SEND(0x88, "\x03\xf3");
    expect_end();
    end("otc");
}

TEST(a_handler_that_fails)
{
    on_each_backend(failing);
}

static void ending(const char *backend)
{
    int64_t began_ns = uw_clock_ns(), deadline_ns;

    begin(backend);
    uw_push_client_end(client, 1000, "bye", 3);
    uw_push_client_end(client, 1001, "again", 5);
    CHECK(!uw_push_client_is_open(client));
    EXPECT("\x88\x05\x03\xe8"
           "bye");
    SEND(0x81, "not heard any more");
    SEND(0x89, "nor answered");
    SEND(0x88, "\x03\xe8");
    expect_end();
    end("oc");

    begin(backend); /* of one who never answers it */
    uw_push_client_end(client, 1000, "", 0);
    EXPECT("\x88\x02\x03\xe8");
    deadline_ns = client->stream.connection->read_deadline_ns;
    CHECK(deadline_ns >= began_ns + UW_CLOSING_NS && deadline_ns <= uw_clock_ns() + UW_CLOSING_NS);
    uw_connection_await_read(client->stream.connection, 0); /* the time for its close frame has passed */
    expect_end();
    end("oc");
}

TEST(the_server_ends_it)
{
    on_each_backend(ending);
}

/* A reason that is too long, in two-byte characters; a code that is none; in the turn of the answer. */
static void ending_oddly(const char *backend)
{
    char reason[201];

    reason[0] = 'a';
    for (size_t i = 1; i < sizeof reason; i += 2)
        memcpy(reason + i, "\xc3\xa4", 2);
    begin(backend);
    uw_push_client_end(client, 1005, reason, sizeof reason);
    EXPECT("\x88\x7d\x03\xf3");
    expect(reason, UW_PUSH_REASON_BYTES_MAX);
    SEND(0x88, "\x03\xf3");
    expect_end();
    end("oc");

    begin(backend);
    uw_push_client_post_end(client, 1000, "\xff", 1);
    EXPECT("\x88\x02\x03\xe8");
    SEND(0x88, "\x03\xe8");
    expect_end();
    end("oc");

    ends_at_once = true;
    begin(backend);
    EXPECT("\x81\x03now\x88\x02\x03\xe8");
    SEND(0x88, "\x03\xe8");
    expect_end();
    end("oc");
    ends_at_once = false;
}

TEST(the_server_ends_it_oddly)
{
    on_each_backend(ending_oddly);
}

/* The connection is gone as its answer is handed over. */
static void gone_at_the_answer(const char *backend)
{
    open_server(backend);
    disconnects = true;
    fd = connect_to(listener);
    send_bytes(REQUEST_HEAD "\r\n", sizeof REQUEST_HEAD + 1);
    await_events(1); /* it may not even have been accepted yet */
    close_client();
    disconnects = false;
    CHECK(!uw_push_client_is_open(client));
    end("c");
}

TEST(a_client_that_is_gone_before_the_answer)
{
    on_each_backend(gone_at_the_answer);
}

/* A client that closes its side right behind its last message and its close still gets both answers, and one that has
 * sent half a head is asked whether it is there. */
static void half_close(const char *backend)
{
    char bytes[40];
    size_t length = make_frame(bytes, 0x81, "last", 4);

    length += make_frame(bytes + length, 0x88, "", 0);
    begin(backend);
    keeps = true;
    send_bytes(bytes, length);
    for (int i = 0; i < TURNS_MAX && !waiting; i++)
        turn();
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    keeps = false;
    answer_waiting(); /* before the loop learns of the end, or after: either way */
    EXPECT("\x81\x04last\x88\x00");
    expect_end();
    end("otc");

    begin(backend);
    send_bytes("\x81", 1);
    atomic_store(&client->idle_timeout_ns, UW_NS_PER_SECOND / 50);
    send_bytes("\x81", 1);
    EXPECT("\x89\x00");
    close_client();
    end("oc");
}

TEST(a_client_that_closes_its_side)
{
    on_each_backend(half_close);
}

/* All that was accepted for sending comes, however the connection ends, and then the end of the stream. */
static void ends_while_sending(const char *backend)
{
    size_t bytes;

    begin(backend); /* the client ends its side, without a close frame */
    bytes = write_until_behind();
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    await_has_left();
    CHECK(uw_server_connections(&server) == 1);
    CHECK(!write_text("late", 4));
    expect_at_least(bytes);
    end("oc");

    begin(backend); /* with a close frame */
    bytes = write_until_behind();
    SEND(0x88, "\x03\xe8");
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    await_has_left();
    expect_at_least(bytes);
    end("oc");

    begin(backend); /* the server ends it */
    bytes = write_until_behind();
    uw_push_client_end(client, UW_CLOSE_POLICY, "slow", 4);
    SEND(0x88, "\x03\xf0");
    expect_at_least(bytes);
    end("oc");
}

TEST(what_was_written_comes_before_the_end)
{
    buffer_bytes = SMALL_BUFFER_BYTES;
    on_each_backend(ends_while_sending);
    buffer_bytes = 0;
}

#define PONG_BYTES 6

/* Sends pongs until the server does not read any more. */
static void fill_input(void)
{
    char bytes[10000 * PONG_BYTES];
    size_t start = 0; /* within a frame that was sent in part */

    for (size_t at = 0; at < sizeof bytes; at += PONG_BYTES)
        (void)make_frame(bytes + at, 0x8a, "", 0);
    for (int quiet = 0; quiet < 50; turn()) {
        ssize_t count = send(fd, bytes + start, sizeof bytes - start, MSG_NOSIGNAL | MSG_DONTWAIT);

        quiet = count > 0 ? 0 : quiet + 1;
        start = count > 0 ? (start + (size_t)count) % PONG_BYTES : start;
    }
}

/* Likewise when the server has not read all that the client has sent. */
static void ends_with_unread_input(const char *backend)
{
    static const unsigned codes[] = {UW_CLOSE_POLICY, UW_CLOSE_GOING_AWAY};
    size_t bytes;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        begin(backend);
        bytes = write_until_behind();
        fill_input();
        if (codes[i] == UW_CLOSE_GOING_AWAY)
            uw_server_drain(&server);
        else
            uw_push_client_end(client, codes[i], "", 0);
        await_ending();
        uw_connection_await_read(client->stream.connection, 0); /* the time for its close frame has passed */
        expect_at_least(bytes);
        close_server();
    }
}

TEST(unread_input_takes_nothing_back)
{
    buffer_bytes = SMALL_BUFFER_BYTES;
    on_each_backend(ends_with_unread_input);
    buffer_bytes = 0;
}

static void draining(const char *backend)
{
    begin(backend);
    uw_server_drain(&server);
    EXPECT("\x88\x02\x03\xe9");
    SEND(0x88, "\x03\xe9");
    expect_end();
    for (int i = 0; i < TURNS_MAX && !uw_server_drained(&server); i++)
        turn();
    CHECK(uw_server_drained(&server));
    end("osc");
}

TEST(the_server_drains)
{
    on_each_backend(draining);
}

static void silence(const char *backend)
{
    settings.idle_timeout_ns = UW_NS_PER_SECOND / 50;
    begin(backend); /* the deadline runs from here */
    settings.idle_timeout_ns = 0;
    EXPECT("\x89\x00");
    SEND(0x8a, "");
    EXPECT("\x89\x00");
    atomic_store(&client->idle_timeout_ns, 0);
    SEND(0x81, "a");
    EXPECT("\x81\x01"
           "a");
    close_client();
    end("otc");
}

TEST(a_silent_client_is_asked)
{
    on_each_backend(silence);
}

/* It has as much time to answer as any. */
static void silence_set_meanwhile(const char *backend)
{
    const int64_t idle_timeout_ns = UW_NS_PER_SECOND / 50;
    int64_t late_ns;

    begin(backend);
    uw_push_client_set_idle_timeout(client, idle_timeout_ns);
    EXPECT("\x89\x00");
    uw_push_client_set_idle_timeout(client, idle_timeout_ns);
    for (late_ns = uw_clock_ns() + 3 * idle_timeout_ns; uw_clock_ns() < late_ns;)
        turn();
    CHECK(uw_push_client_is_open(client));
    SEND(0x8a, "");
    EXPECT("\x89\x00");
    close_client();
    end("oc");
}

TEST(what_silence_is_allowed_changes_while_the_client_is_asked)
{
    on_each_backend(silence_set_meanwhile);
}

/* What goes out and comes in compressed; what is short goes as it is. */
static void compressing(const char *backend)
{
    static const char hello[] = "\xf2\x48\xcd\xc9\xc9\x07\x00";
    char payload[1000], head[4];

    open_server(backend);
    connect_client("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n");
    EXPECT("Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"
           "Connection: upgrade\r\n\r\n");
    send_frame(0xc1, hello, sizeof hello - 1);
    EXPECT("\x81\x05Hello");
    send_frame(0x41, hello, 3);
    send_frame(0x80, hello + 3, sizeof hello - 1 - 3);
    EXPECT("\x81\x05Hello");
    memset(payload, 'a', sizeof payload);
    send_frame(0x82, payload, sizeof payload);
    CHECK_EQUAL(2, receive(head, 2));
    CHECK_EQUAL(0xc2, (unsigned char)head[0]);
    CHECK(head[1] > 0 && head[1] < 100);
    CHECK_EQUAL(head[1], receive(payload, (size_t)head[1]));
    send_frame(0xc1, "\xff\xff", 2);
    EXPECT("\x88\x02\x03\xef");
    expect_end();
    end("ottbc");
}

TEST(compressed_messages)
{
    if (!uw_deflate_is_possible())
        SKIP("there is no zlib");
    on_each_backend(compressing);
}

static void send_long_compressed(void)
{
    struct uw_deflate *deflate = uw_deflate_new();
    char *zeros = calloc(1, MESSAGE_BYTES_MAX), *bytes;
    long length = uw_deflate_compress(deflate, UW_WINDOW_BITS_MAX, zeros, MESSAGE_BYTES_MAX, &bytes);

    CHECK(length > 0);
    send_frame(0xc2, bytes, (size_t)length);
    uw_deflate_free(deflate);
    free(zeros);
}

/* When others use the whole inflate budget, a long one waits, the end of its client too; a short one does not. */
static void crowded(const char *backend)
{
    for (int half_closes = 0; half_closes <= 1; half_closes++) {
        open_server(backend);
        connect_client("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n");
        await_events(1);
        server.server_context.inflated_bytes = UW_INFLATED_BYTES_MAX;
        send_frame(0xc1, "\xf2\x48\xcd\xc9\xc9\x07\x00", 7);
        await_events(2);
        keeps = true;
        SEND(0x81, "kept");
        await_events(3);
        send_long_compressed();
        if (half_closes)
            CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
        for (int i = 0;
             i < TURNS_MAX && !(uw_push_client_awaits_inflate_budget(client) && client->input_ended == half_closes);
             i++)
            turn();
        CHECK(uw_push_client_awaits_inflate_budget(client));
        server.server_context.inflated_bytes = 0;
        answer_waiting();
        for (int i = 0; i < TURNS_MAX && !waiting; i++)
            turn();
        CHECK_EQUAL(MESSAGE_BYTES_MAX, server.server_context.inflated_bytes);
        keeps = false;
        answer_waiting();
        CHECK_EQUAL(0, server.server_context.inflated_bytes);
        close_client();
        end("ottbc");
    }
}

TEST(compressed_messages_that_are_long)
{
    if (!uw_deflate_is_possible())
        SKIP("there is no zlib");
    on_each_backend(crowded);
}

static void *write_from_afar(void *argument)
{
    for (int i = 0; i < 100; i++)
        uw_push_client_post(client, client->kind->frame(NULL, true, "post", 4));
    uw_push_client_post_end(client, 1000, "done", 4);
    uw_push_client_post_end(client, 1001, "again", 5);
    uw_push_client_release(argument);
    return NULL;
}

static void from_other_thread(const char *backend)
{
    pthread_t thread;

    begin(backend);
    uw_push_client_retain(client);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, write_from_afar, client));
    for (int i = 0; i < 100; i++)
        EXPECT("\x81\x04post");
    EXPECT("\x88\x06\x03\xe8"
           "done");
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    SEND(0x88, "\x03\xe8");
    expect_end();
    end("oc");
}

TEST(other_threads_write)
{
    on_each_backend(from_other_thread);
}

static bool all_sent(void)
{
    return atomic_load(&client->stream.outgoing_bytes) == 0;
}

/* One who does not read is behind at some time, and is told when all has been sent. */
static void behind(const char *backend)
{
    char *payload = calloc(1, 65536);
    int messages = 0;
    size_t told;

    begin(backend);
    atomic_store(&client->wants_drained, true);
    for (; !uw_push_client_is_behind(client); messages++) {
        CHECK(uw_push_client_send(client, client->kind->frame(NULL, false, payload, 65536)));
        turn();
    }
    CHECK(atomic_load(&client->stream.outgoing_bytes) < CLIENT_BYTES_MAX + 65536 + UW_FRAME_HEAD_BYTES_MAX);
    for (int i = 0; i < messages; i++)
        expect_message(UW_OPCODE_BINARY, payload, 65536);
    for (int i = 0; i < TURNS_MAX && !all_sent(); i++)
        turn();
    told = strlen(events);
    CHECK(uw_push_client_send(client, client->kind->frame(NULL, true, "again", 5)));
    EXPECT("\x81\x05"
           "again");
    for (int i = 0; i < TURNS_MAX && strlen(events) == told; i++)
        turn();
    CHECK(told > 1 && strcmp(events + told, "d") == 0);
    CHECK(!uw_push_client_is_behind(client));
    uw_push_client_end(client, UW_CLOSE_POLICY, "slow", 4);
    EXPECT("\x88\x06\x03\xf0slow");
    SEND(0x88, "\x03\xf0");
    expect_end();
    end(events);
    free(payload);
}

TEST(a_client_that_does_not_read)
{
    on_each_backend(behind);
}

/* A client whose connection is gone as the answer is made: the handler learns so, and nothing is left. */
static void gone_before(const char *backend)
{
    begin(backend);
    close(fd);
    uw_server_close(&server); /* with the connection as it is */
    uw_push_client_release(client);
    close(listener);
}

TEST(the_server_closes_with_a_client)
{
    on_each_backend(gone_before);
}

/* Frames behind the request, before it has been answered. */
static void ahead(const char *backend)
{
    char bytes[1000];
    size_t length = sizeof REQUEST_HEAD - 1, count = 0;

    open_server(backend);
    memcpy(bytes, REQUEST_HEAD "\r\n", length + 2);
    length += 2;
    length += make_frame(bytes + length, 0x81, "ahead", 5);
    length += make_frame(bytes + length, 0x88, "", 0);
    fd = connect_to(listener);
    send_bytes(bytes, length);
    count = receive(bytes, sizeof bytes);
    CHECK(count > 9 && memcmp(bytes + count - 9,
                              "\x81\x05"
                              "ahead\x88\x00",
                              9) == 0);
    expect_end();
    end("otc");
}

TEST(frames_ahead_of_the_answer)
{
    on_each_backend(ahead);
}

static const char *const unwanted[] = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c, websockets\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    REQUEST_HEAD "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "GET / HTTP/1.0\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
};

TEST(requests_that_are_no_handshake)
{
    is_wanted = uw_websocket_is_wanted;
    check_wanted(unwanted, sizeof unwanted / sizeof *unwanted, false);
}

TEST_MAIN
