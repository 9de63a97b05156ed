/* A server for one connection after another over a transport in memory, and how it ends.
 *
 * The input: how the client reads and writes (3 bytes), how many acts there are, the acts, then what the client
 * sends. */
#ifndef UW_FUZZ_SERVER_FIXTURE_H
#define UW_FUZZ_SERVER_FIXTURE_H

#include <stdio.h>

#include "composition/composition.h"
#include "http1/http1.h"
#include "server/fake_transport.h"
#include "server/server.h"

#define SETTINGS_BYTES 4
#define ACTS_MAX 64
#define STEPS_MAX 100000
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define MESSAGE_BYTES_MAX 3000

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
    .idle_timeout_ns = LONG_NS,
};

static struct uw_server server;
static bool answers_at_once;
static uint8_t way; /* the target's */

/* The handler's, which each target has. */
static void notify(void *context, struct uw_request *request, enum uw_event event);

static inline void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static inline void fails(const char *what)
{
    must(false, what);
}

struct input {
    const uint8_t *acts;
    size_t acts_length;
    const char *sent; /* by the client */
    size_t sent_length;
};

/* Returns false where there is too little of it. */
static inline bool read_input(struct input *input, struct fake *fake, const uint8_t *data, size_t size)
{
    if (size < SETTINGS_BYTES || size < SETTINGS_BYTES + (size_t)data[3] % ACTS_MAX)
        return false;
    *input = (struct input){.acts = data + SETTINGS_BYTES, .acts_length = data[3] % ACTS_MAX};
    input->sent = (const char *)input->acts + input->acts_length;
    input->sent_length = size - SETTINGS_BYTES - input->acts_length;
    answers_at_once = data[0] & 1;
    way = data[0] >> 5;
    *fake = (struct fake){
        .input = input->sent,
        .input_length = input->sent_length,
        .piece = data[1],
        .input_ends = FAKE_CLIENT_GOES_ON,
        .send_most = data[2],
        .gathers = data[0] & 2,
        .sends_fail_after = FAKE_NEVER,
        .send_error = data[0] & 16 ? -EPIPE : 0,
        .shut_error = data[0] & 8 ? -ENOTCONN : 0,
        .settles_at_once = data[0] & 4,
        .fails = fails,
    };
    return true;
}

/* Many connections have one server, until it drains. */
static inline void open_server(void)
{
    static bool is_open;

    if (is_open && !atomic_load(&server.server_context.draining))
        return;
    if (is_open)
        uw_server_close(&server);
    is_open = true;
    must(uw_server_open(&server, &uw_composition, &settings, "poll", (struct uw_handler){.notify = notify}) == 0,
         "a server opens");
}

static inline struct uw_connection *connection_of(const struct fake *fake)
{
    return fake->endpoint ? uw_container_of(fake->endpoint, struct uw_connection, endpoint) : NULL;
}

static inline void turn(void)
{
    must(uw_server_turn(&server, 0) == 0, "a turn succeeds");
}

static inline void drain(void)
{
    if (!atomic_load(&server.server_context.draining))
        uw_server_drain(&server);
}

/* All that a connection waits for has taken too long. */
static inline void time_out(const struct fake *fake)
{
    struct uw_connection *connection = connection_of(fake);

    if (!connection || uw_connection_is_closed(connection))
        return;
    server.server_context.loop.now_ns += 2 * LONG_NS;
    uw_connection_timeout(connection);
}

/* The client reads what there is, and closes; `serve` has the handler do what it has to. */
static inline void run_to_the_end(struct fake *fake, void (*serve)(int step))
{
    if (fake->input_ends == FAKE_CLIENT_GOES_ON)
        fake->input_ends = 0;
    for (int step = 1; step <= STEPS_MAX && fake->endpoint; step++) {
        (void)fake_step(fake);
        turn();
        serve(step);
        turn();
    }
    turn(); /* what was posted arrives */
    must(!fake->endpoint && fake->released, "the connection ends with its client");
}

static inline void check_nothing_is_left(void)
{
    must(!server.server_context.connections.taken && !server.server_context.requests.taken &&
             !server.server_context.chunks.taken &&
             server.server_context.loop.timers.count == server.accept_retry.active,
         "nothing is left behind");
}

#endif
