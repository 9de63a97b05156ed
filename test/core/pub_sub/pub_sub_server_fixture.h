/* A server whose requests become long-lived clients, without WebSocket's handshake, over real sockets. */
#ifndef UW_TEST_PUB_SUB_SERVER_FIXTURE_H
#define UW_TEST_PUB_SUB_SERVER_FIXTURE_H

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

#include "composition/composition.h"
#include "pub_sub/cross_thread.h"
#include "pub_sub/subscriptions.h"
#include "push/loopback_peer.h"
#include "websocket/frame.h"
#include "websocket/websocket_protocol.h"

#define CLIENTS_MAX 16
#define LOG_BYTES 65536
#define ANSWER "HTTP/1.1 101 Switching Protocols\r\n\r\n"

static struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 100,
    .body_memory_bytes_max = 100,
    .connections_max = CLIENTS_MAX,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
    .message_bytes_max = 1024 * 1024,
    .client_bytes_max = 256 * 1024,
};

static struct uw_push_client *clients[CLIENTS_MAX]; /* with a reference */
static int fds[CLIENTS_MAX];                        /* their ends */
static int client_count, listener;
static int next_window_bits;    /* of the next client */
static char events[LOG_BYTES];  /* what handlers were told */
static bool keeps;              /* the next event is kept */
static struct uw_request *kept; /* the event that a handler has */
static void (*on_published)(struct uw_push_client *client, const struct uw_published *published); /* or NULL */
static void (*on_drained)(struct uw_push_client *client);                                         /* likewise */

static inline struct uw_channels *channels_of_server(void)
{
    return server.server_context.channels;
}

static inline void note(const char *text, size_t length)
{
    size_t used = strlen(events);

    if (used + length < sizeof events)
        memcpy(events + used, text, length);
}

static inline void finish(struct uw_request *request)
{
    uw_request_send(request, uw_push_client_event_end(request, false));
}

static inline void stay(struct uw_request *request)
{
    struct uw_chunk *chunk = uw_chunk_copy(ANSWER, sizeof ANSWER - 1);

    clients[client_count] = request->client =
        uw_push_client_new(&server.server_context, &uw_push_client_websocket, NULL);
    clients[client_count++]->window_bits = next_window_bits;
    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_UPGRADE;
    uw_request_send(request, chunk);
}

static inline void take_published(struct uw_request *request)
{
    struct uw_published published = uw_published_of(request);
    char number[24];

    note(number, (size_t)snprintf(number, sizeof number, "%" PRIu64, published.subscription));
    note(published.text ? "\"" : "'", 1);
    note(published.channel, published.channel_length);
    note("=", 1);
    note(published.message, published.length);
    note(" ", 1);
    if (on_published)
        on_published(request->client, &published);
}

static inline void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    CHECK_EQUAL(request->client_event ? UW_EVENT_PUSH : UW_EVENT_REQUEST, event);
    if (!request->client_event) {
        stay(request);
        return;
    }
    if (request->client_event == UW_PUSH_PUBLISHED)
        take_published(request);
    if (request->client_event == UW_PUSH_DRAINED && on_drained)
        on_drained(request->client);
    if (keeps && !kept)
        kept = request;
    else
        finish(request);
}

static inline void finish_kept(void)
{
    struct uw_request *request = kept;

    kept = NULL;
    keeps = false;
    finish(request);
}

/* Turns until the condition holds. */
#define AWAIT(condition) \
    do { \
        for (int i = 0; i < TURNS_MAX && !(condition); i++) \
            turn(); \
        CHECK(condition); \
    } while (0)

static inline void expect_message(int client, enum uw_opcode opcode, const char *payload, size_t length)
{
    char head[UW_FRAME_HEAD_BYTES_MAX];

    expect_from(fds[client], head, uw_frame_write_head(head, opcode, false, length));
    expect_from(fds[client], payload, length);
}

static inline void expect_text(int client, const char *payload)
{
    expect_message(client, UW_OPCODE_TEXT, payload, strlen(payload));
}

static inline void expect_events(const char *expected)
{
    CHECK(strcmp(expected, events) == 0);
    if (strcmp(expected, events) != 0)
        printf("%s instead of %s\n", events, expected);
    memset(events, 0, sizeof events);
}

static inline void expect_nothing_for(int client)
{
    struct pollfd poll_fd = {.fd = fds[client], .events = POLLIN};

    turn();
    turn();
    CHECK_EQUAL(0, poll(&poll_fd, 1, 0));
}

static inline void open_server(const char *backend)
{
    struct uw_handler handler = {.notify = notify};

    memset(events, 0, sizeof events);
    client_count = next_window_bits = 0;
    keeps = false;
    kept = NULL;
    on_published = NULL;
    on_drained = NULL;
    listener = listen_on_loopback();
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, handler));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
}

static inline void connect_client(void)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    int index = client_count;

    fds[index] = connect_to(listener);
    CHECK_EQUAL(sizeof request - 1, send(fds[index], request, sizeof request - 1, MSG_NOSIGNAL));
    expect_from(fds[index], ANSWER, sizeof ANSWER - 1);
    AWAIT(clients[index]->opened);
}

static inline void begin(const char *backend, int count)
{
    open_server(backend);
    for (int i = 0; i < count; i++)
        connect_client();
}

/* The client is gone, and all has been told. */
static inline void leave(int client)
{
    size_t before = uw_server_connections(&server);

    close(fds[client]);
    fds[client] = -1;
    AWAIT(uw_server_connections(&server) < before);
}

static inline void end(void)
{
    uw_server_close(&server);
    for (int i = 0; i < client_count; i++) {
        uw_push_client_release(clients[i]);
        if (fds[i] >= 0)
            close(fds[i]);
    }
    close(listener);
}

static inline int subscribe(int client, const char *name, bool pattern, enum uw_subscription_form form, uint64_t number)
{
    struct uw_topic topic = {name, strlen(name), pattern};

    CHECK(uw_push_client_may_subscribe(clients[client]));
    return uw_push_client_subscribe(clients[client], &topic, form, number);
}

static inline size_t publish_bytes(const char *channel, const char *bytes, size_t length, bool text)
{
    return uw_publish(channels_of_server(), (struct uw_publication){.channel = channel,
                                                                    .channel_length = strlen(channel),
                                                                    .message = {.bytes = bytes, .length = length},
                                                                    .text = text});
}

static inline size_t publish(const char *channel, const char *message)
{
    return publish_bytes(channel, message, strlen(message), true);
}

#endif
