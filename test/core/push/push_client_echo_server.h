/* One long-lived client, over real sockets, whatever the protocol; and a handler that answers each message with itself,
 * at once or when it is told to. The test says how it upgrades. */
#ifndef UW_TEST_PUSH_CLIENT_ECHO_SERVER_H
#define UW_TEST_PUSH_CLIENT_ECHO_SERVER_H

#include "composition/composition.h"
#include "push/loopback_peer.h"
#include "push/push_client.h"

#define MESSAGE_BYTES_MAX 200000
#define CLIENT_BYTES_MAX (512 * 1024)
#define EVENTS_MAX 4096
#define SMALL_BUFFER_BYTES (64 * 1024)

static struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 100,
    .body_memory_bytes_max = 100,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
    .message_bytes_max = MESSAGE_BYTES_MAX,
    .client_bytes_max = CLIENT_BYTES_MAX,
};

static struct uw_push_client *client;
static struct uw_request *waiting; /* the event that the handler has and keeps */
static bool keeps, fails, ends_at_once, disconnects;
static char events[EVENTS_MAX]; /* a letter each */
static int listener, fd;
static int buffer_bytes; /* of the server's sockets; 0: as the kernel has them */

/* The handler */

/* Sets `client` and hands the answer over. */
static void upgrade(struct uw_request *request);

static inline void finish(struct uw_request *request, bool failed)
{
    uw_request_send(request, uw_push_client_event_end(request, failed));
}

static inline bool write_text(const char *bytes, size_t length)
{
    return uw_push_client_send(client, client->kind->frame(NULL, true, bytes, length));
}

static inline void hand_over_upgrade(struct uw_request *request, struct uw_chunk *head)
{
    request->client = client;
    head->flags = UW_CHUNK_FINISH | UW_CHUNK_UPGRADE;
    if (disconnects)
        uw_request_disconnect(request);
    uw_request_send(request, head);
    if (!ends_at_once)
        return;
    CHECK(write_text("now", 3));
    uw_push_client_end(client, 1000, "", 0);
}

static inline void answer(struct uw_request *request)
{
    bool text = request->client_event == UW_PUSH_TEXT;

    if (text || request->client_event == UW_PUSH_BINARY)
        (void)uw_push_client_send(
            client, client->kind->frame(&server.server_context.chunks, text, request->bytes, request->bytes_length));
    finish(request, fails);
}

static inline void notify(void *context, struct uw_request *request, enum uw_event event)
{
    static const char letters[] = "?otbdsc";
    size_t length = strlen(events);

    (void)context;
    CHECK_EQUAL(request->client ? UW_EVENT_PUSH : UW_EVENT_REQUEST, event);
    if (!request->client) {
        upgrade(request);
        return;
    }
    if (length < sizeof events - 1)
        events[length] = letters[request->client_event];
    if (keeps) {
        CHECK(!waiting);
        waiting = request;
    } else {
        answer(request);
    }
}

static inline void answer_waiting(void)
{
    struct uw_request *request = waiting;

    waiting = NULL;
    answer(request);
}

/* The client */

static inline void send_bytes(const char *bytes, size_t length)
{
    for (int i = 0; length > 0 && i < TURNS_MAX; i++) {
        ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        }
        turn();
    }
    CHECK_EQUAL(0, length);
}

static inline size_t receive(char *bytes, size_t length)
{
    return receive_from(fd, bytes, length);
}

static inline void expect(const char *bytes, size_t length)
{
    expect_from(fd, bytes, length);
}

#define EXPECT(bytes) expect(bytes, sizeof(bytes) - 1)

static inline void await_no_connections(void)
{
    for (int i = 0; i < TURNS_MAX && uw_server_connections(&server); i++)
        turn();
    CHECK_EQUAL(0, uw_server_connections(&server));
}

static inline void close_client(void)
{
    close(fd);
    await_no_connections();
}

static inline void expect_end(void)
{
    char byte;

    CHECK_EQUAL(0, receive(&byte, 1));
    close_client();
}

static inline void await_events(size_t count)
{
    for (int i = 0; i < TURNS_MAX && strlen(events) < count; i++)
        turn();
}

/* Writes to a client that does not read, until as much is outgoing as may be. Returns the bytes of the messages. */
static inline size_t write_until_behind(void)
{
    static const char payload[64 * 1024];
    size_t count = 0;

    for (int i = 0; i < TURNS_MAX && !uw_push_client_is_behind(client); i++) {
        CHECK(write_text(payload, sizeof payload));
        count += sizeof payload;
        turn();
    }
    CHECK(uw_push_client_is_behind(client));
    return count;
}

static inline void await_has_left(void)
{
    for (int i = 0; i < TURNS_MAX && !client->input_ended; i++)
        turn();
    CHECK(client->input_ended);
}

static inline void await_ending(void)
{
    for (int i = 0; i < TURNS_MAX && uw_push_client_is_open(client); i++)
        turn();
    CHECK(!uw_push_client_is_open(client));
}

/* At least `least` bytes, and then the end of the stream, not a reset. */
static inline void expect_at_least(size_t least)
{
    size_t count;

    CHECK_EQUAL(0, receive_to_the_end(fd, &count));
    CHECK(count >= least);
    if (count < least)
        printf("%zu bytes instead of %zu on %s\n", count, least, server.server_context.loop.backend->name);
    close_client();
}

/* Beginning and end */

static inline void open_server(const char *backend)
{
    struct uw_handler handler = {.notify = notify};

    keeps = fails = false;
    memset(events, 0, sizeof events);
    listener = listen_on_loopback();
    if (buffer_bytes) {
        CHECK_EQUAL(0, setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes));
        CHECK_EQUAL(0, setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes));
    }
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, handler));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
}

static inline void close_server(void)
{
    uw_push_client_release(client);
    uw_server_close(&server);
    close(listener);
}

/* `expected` are the letters of all events that the handler has been told. */
static inline void end(const char *expected)
{
    CHECK(strcmp(expected, events) == 0);
    if (strcmp(expected, events) != 0)
        printf("%s instead of %s\n", events, expected);
    close_server();
}

/* A request that asks for nothing, by `is_wanted`, which is told for each. */

static bool (*is_wanted)(const struct uw_http_head *head, const char *bytes);
static int wanted; /* or -1: not known yet */

static inline void note_wanted(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context, (void)event;
    wanted = is_wanted(&request->head, request->bytes);
    uw_request_abort(request);
}

static inline void check_wanted(const char *const *requests, size_t count, bool expected)
{
    struct uw_handler handler = {.notify = note_wanted};

    listener = listen_on_loopback();
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, NULL, handler));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    for (size_t i = 0; i < count; i++) {
        wanted = -1;
        fd = connect_to(listener);
        send_bytes(requests[i], strlen(requests[i]));
        for (int turns = 0; turns < TURNS_MAX && wanted < 0; turns++)
            turn();
        CHECK_EQUAL(expected, wanted);
        if (wanted != expected)
            printf("in: %s\n", requests[i]);
        close(fd);
    }
    uw_server_close(&server);
    close(listener);
}

#endif
