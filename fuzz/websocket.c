/* A WebSocket over a transport in memory: any bytes behind the handshake, cut anywhere, read and sent at any pace by an
 * unruly client, served at any time by an unruly handler. What the client has received must be frames, with nothing
 * behind a close; the handler is told of the beginning first and of the end last, once each; and nothing is left
 * behind.
 *
 * The input: how the client reads and writes (3 bytes), how many acts there are, the acts, then what the client
 * sends. */
#include <stdio.h>

#include "http1/http1.h"
#include "server/fake_transport.h"
#include "server/server.h"
#include "websocket/frame.h"
#include "websocket/websocket.h"

#define SETTINGS_BYTES 4
#define ACTS_MAX 64
#define STEPS_MAX 100000
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define MESSAGE_BYTES_MAX 3000
#define POSTED "posted"

static const char handshake[] = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
static const char accepted[] = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n\r\n";

enum act {
    ACT_STEP, /* the transport tells one thing */
    ACT_TURN,
    ACT_SERVE,
    ACT_SERVE_FROM_AFAR,
    ACT_FAIL,
    ACT_WRITE,
    ACT_POST,
    ACT_END,
    ACT_END_FROM_AFAR,
    ACT_DISCONNECT,
    ACT_DRAIN,
    ACT_TIME_OUT,
    ACT_SENDS_FAIL,
    ACT_CLIENT_RESETS,
    ACT_COUNT,
};

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 2048, .target_bytes_max = 1024, .headers_max = UW_HTTP_HEADERS_MAX},
    .body_bytes_max = 4096,
    .body_memory_bytes_max = 4096,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
    .message_bytes_max = MESSAGE_BYTES_MAX,
    .client_bytes_max = MESSAGE_BYTES_MAX,
    .silence_ns = LONG_NS,
};

static struct uw_server server;
static struct uw_client *client;
static struct uw_request *current; /* the event that the handler has */
static bool answers_at_once, compresses, opened, closed;
static unsigned code; /* of the next end */

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "websocket: not so: %s\n", what);
    abort();
}

static void fails(const char *what)
{
    must(false, what);
}

static void hand_over(struct uw_request *request, struct uw_chunk *chunk, unsigned flags, bool from_afar)
{
    must(chunk != NULL, "there is memory");
    chunk->flags = UW_CHUNK_FINISH | flags;
    (from_afar ? uw_request_post : uw_request_send)(request, chunk);
}

static void upgrade(struct uw_request *request)
{
    client = request->client = uw_client_new(&server.service, &uw_client_websocket, NULL);
    must(client != NULL, "there is memory");
    client->window_bits = compresses ? 15 : 0;
    atomic_store(&client->wants_drained, compresses);
    hand_over(request, uw_chunk_copy(accepted, sizeof accepted - 1), UW_CHUNK_UPGRADE, !answers_at_once);
}

static struct uw_chunk *frame(bool text, const char *bytes, size_t length)
{
    struct uw_chunk *chunk = client->kind->frame(NULL, text, bytes, length);

    must(chunk != NULL, "there is memory");
    return chunk;
}

/* Each message is answered with itself. */
static void serve(unsigned flags, bool from_afar)
{
    struct uw_request *request = current;
    bool text = request && request->client_event == UW_CLIENT_TEXT;

    if (!request || atomic_load(&request->posted))
        return;
    current = NULL; /* the next event may come from within */
    if (text || request->client_event == UW_CLIENT_BINARY)
        (from_afar ? uw_client_post(client, frame(text, request->bytes, request->bytes_length))
                   : (void)uw_client_send(client, frame(text, request->bytes, request->bytes_length)));
    hand_over(request, uw_chunk_new(0), flags, from_afar);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    must(event == UW_EVENT_REQUEST && !current, "one event at a time");
    if (!request->client) {
        must(!client, "one request");
        upgrade(request);
        return;
    }
    must(!closed, "nothing is told after the end");
    must(opened || request->client_event == UW_CLIENT_OPENED || request->client_event == UW_CLIENT_CLOSED,
         "the beginning is told first");
    must(!opened || request->client_event != UW_CLIENT_OPENED, "the beginning is told once");
    opened |= request->client_event == UW_CLIENT_OPENED;
    closed = request->client_event == UW_CLIENT_CLOSED;
    current = request;
    if (answers_at_once)
        serve(0, false);
}

static void open_server(void)
{
    static bool is_open;

    if (is_open && !atomic_load(&server.service.draining))
        return;
    if (is_open)
        uw_server_close(&server);
    is_open = true;
    must(uw_server_open(&server, &settings, "poll", (struct uw_handler){.notify = notify}) == 0, "a server opens");
}

static void turn(void)
{
    must(uw_server_turn(&server, 0) == 0, "a turn succeeds");
}

static void time_out(const struct fake *fake)
{
    struct uw_connection *connection = fake->endpoint ? uw_owner(fake->endpoint, struct uw_connection, endpoint) : NULL;

    if (!connection || uw_connection_is_closed(connection))
        return;
    server.service.loop.now_ns += 2 * LONG_NS;
    uw_connection_timeout(connection);
}

static void act_on_client(enum act what)
{
    if (!client)
        return;
    if (what == ACT_WRITE)
        (void)uw_client_send(client, frame(true, POSTED, sizeof POSTED - 1));
    else if (what == ACT_POST)
        uw_client_post(client, frame(false, POSTED, sizeof POSTED - 1));
    else if (what == ACT_END)
        uw_client_end(client, code, POSTED, sizeof POSTED - 1);
    else
        uw_client_end_from_afar(client, code, POSTED, sizeof POSTED - 1);
}

static void act(struct fake *fake, enum act what)
{
    switch (what) {
    case ACT_STEP:
        (void)fake_step(fake);
        break;
    case ACT_TURN:
        turn();
        break;
    case ACT_SERVE:
        serve(0, false);
        break;
    case ACT_SERVE_FROM_AFAR:
        serve(0, true);
        break;
    case ACT_FAIL:
        serve(UW_CHUNK_ABORT, false);
        break;
    case ACT_DISCONNECT:
        if (fake->endpoint)
            uw_connection_close(uw_owner(fake->endpoint, struct uw_connection, endpoint));
        break;
    case ACT_DRAIN:
        if (!atomic_load(&server.service.draining))
            uw_server_drain(&server);
        break;
    case ACT_TIME_OUT:
        time_out(fake);
        break;
    case ACT_SENDS_FAIL:
        fake->sends_fail_after = 0;
        break;
    case ACT_CLIENT_RESETS:
        fake->input_ends = -ECONNRESET;
        break;
    default:
        act_on_client(what);
    }
}

/* The client reads what there is, and closes. */
static void run_to_the_end(struct fake *fake)
{
    int steps = 0;

    if (fake->input_ends == FAKE_CLIENT_GOES_ON)
        fake->input_ends = 0;
    while (steps++ < STEPS_MAX && fake->endpoint) {
        (void)fake_step(fake);
        turn();
        serve(0, steps % 2);
        turn();
    }
    turn(); /* what was posted arrives */
    must(!fake->endpoint && fake->released, "the connection ends with its client");
    must(!current, "no event is left with the handler");
    must(!client || closed, "the end is told");
    if (client) {
        must(atomic_load(&client->holds) == 1 && !uw_client_is_open(client), "nobody else has the client");
        uw_client_release(client);
    }
    must(!server.service.connections.taken && !server.service.requests.taken && !server.service.chunks.taken &&
             server.service.loop.timers.count == server.accept_retry.active,
         "nothing is left behind");
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
    struct fake fake = {.input_ends = FAKE_CLIENT_GOES_ON, .sends_fail_after = FAKE_NEVER, .fails = fails};
    size_t acts, head = sizeof handshake - 1, sent;
    char *input;

    if (size < SETTINGS_BYTES)
        return 0;
    acts = data[3] % ACTS_MAX;
    if (size < SETTINGS_BYTES + acts)
        return 0;
    sent = size - SETTINGS_BYTES - acts;
    input = malloc(head + sent);
    must(input != NULL, "there is memory");
    memcpy(input, handshake, head);
    memcpy(input + head, data + SETTINGS_BYTES + acts, sent);
    answers_at_once = data[0] & 1;
    fake.gathers = data[0] & 2;
    fake.settles_at_once = data[0] & 4;
    fake.shut_error = data[0] & 8 ? -ENOTCONN : 0;
    fake.send_error = data[0] & 16 ? -EPIPE : 0;
    compresses = data[0] & 32;
    fake.piece = data[1];
    fake.send_most = data[2];
    fake.input = input;
    fake.input_length = head + sent;
    client = NULL;
    current = NULL;
    opened = closed = false;
    open_server();
    fake_connect(&server.service, &uw_protocol_http1, &fake);
    for (size_t i = 0; i < acts; i++) {
        code = 990 + data[SETTINGS_BYTES + i];
        act(&fake, data[SETTINGS_BYTES + i] % ACT_COUNT);
    }
    run_to_the_end(&fake);
    check_output(&fake);
    fake_free(&fake);
    free(input);
    return 0;
}
