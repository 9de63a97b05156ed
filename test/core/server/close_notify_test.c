/* A transport may have a last word behind the last answer, as TLS does, and no room for it: a connection that has come
 * to its end waits for it, but not for ever. */
#include "check.h"
#include "composition/composition.h"
#include "fake_transport.h"
#include "server/server.h"

#define STEPS_MAX 100
#define LONG_NS (60 * UW_NS_PER_SECOND)

static const struct uw_server_settings settings = {
    .connections_max = 10, .head_timeout_ns = LONG_NS, .keep_alive_timeout_ns = LONG_NS, .write_timeout_ns = LONG_NS};

static struct uw_server server;
static struct uw_stream stream;

static void ignore(struct uw_connection *connection)
{
    (void)connection;
}

static void ignore_bytes(struct uw_connection *connection, const char *bytes, size_t length)
{
    (void)connection, (void)bytes, (void)length;
}

static void ignore_end(struct uw_connection *connection, int32_t result)
{
    (void)connection, (void)result;
}

static bool no(const struct uw_connection *connection)
{
    (void)connection;
    return false;
}

static bool yes(struct uw_connection *connection)
{
    (void)connection;
    return true;
}

static const struct uw_protocol silent = {
    .name = "silent",
    .opened = ignore,
    .received = ignore_bytes,
    .receive_ended = ignore_end,
    .sent = ignore,
    .resume = ignore,
    .timed_out = ignore,
    .drain = ignore,
    .response_in_progress = no,
    .closed = ignore,
    .released = yes,
    .discarded = ignore,
};

static void fails(const char *what)
{
    printf("the connection does not %s\n", what);
    check_failures++;
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context, (void)request, (void)event;
}

static void run(struct fake *fake)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        (void)fake_step(fake);
        CHECK_EQUAL(0, uw_server_turn(&server, 0));
    }
}

static int troubles[UW_SYSTEM_ERRORS];

static void troubled(void *context, enum uw_system_error trouble, const char *where, int error)
{
    (void)context, (void)where;
    troubles[trouble] = error;
}

/* A file fails while it is sent, or the client has left. */
TEST(only_what_fails_here_is_told)
{
    static const int errors[][2] = {{-EIO, EIO}, {-ESTALE, ESTALE}, {-EPIPE, 0}, {-ECONNRESET, 0}, {0, 0}};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct fake fake = {.input_ends = FAKE_CLIENT_GOES_ON, .send_error = errors[i][0], .fails = fails};

        troubles[UW_SYSTEM_ERROR_FILE] = 0;
        CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, "poll",
                                      (struct uw_handler){.notify = notify, .troubled = troubled}));
        fake_connect(&server.server_context, &silent, &fake);
        uw_connection_enqueue(uw_container_of(fake.endpoint, struct uw_connection, endpoint), &stream,
                              uw_chunk_copy("part", 4));
        run(&fake);
        CHECK(fake.closed);
        CHECK_EQUAL(errors[i][1], troubles[UW_SYSTEM_ERROR_FILE]);
        CHECK_EQUAL(0, uw_server_connections(&server));
        uw_server_close(&server);
        fake_free(&fake);
    }
}

static struct uw_connection *say_all(struct fake *fake)
{
    struct uw_chunk *chunk = uw_chunk_copy("bye", 3);
    struct uw_connection *connection;

    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, "poll", (struct uw_handler){.notify = notify}));
    fake_connect(&server.server_context, &silent, fake);
    connection = uw_container_of(fake->endpoint, struct uw_connection, endpoint);
    run(fake);
    chunk->flags = UW_CHUNK_CLOSE;
    uw_connection_enqueue(connection, &stream, chunk);
    uw_connection_flush_and_end(connection);
    run(fake);
    CHECK_EQUAL(3, fake->output_length);
    return connection;
}

static void end(struct fake *fake)
{
    run(fake);
    CHECK_EQUAL(0, uw_server_connections(&server));
    uw_server_close(&server);
    fake_free(fake);
}

/* The client has said all before, or says so only now. */
TEST(a_client_that_has_said_all_is_waited_for_while_the_last_word_is_leaving)
{
    for (int before = 0; before < 2; before++) {
        struct fake fake = {.input_ends = before ? 0 : FAKE_CLIENT_GOES_ON,
                            .sends_fail_after = FAKE_NEVER,
                            .keeps_last_word = true,
                            .fails = fails};
        struct uw_connection *connection = say_all(&fake);

        fake.input_ends = 0;
        run(&fake);
        CHECK(!fake.closed);
        CHECK_EQUAL(UW_CONNECTION_LINGERING, connection->state);
        fake.endpoint->send.pending = false;
        server.server_context.loop.now_ns += UW_LINGER_NS + UW_NS_PER_SECOND;
        uw_connection_timeout(connection);
        CHECK(fake.closed && !fake.lost_last_word);
        end(&fake);
    }
}

TEST(but_not_for_ever)
{
    struct fake fake = {.sends_fail_after = FAKE_NEVER, .keeps_last_word = true, .fails = fails};
    struct uw_connection *connection = say_all(&fake);

    CHECK(!fake.closed);
    server.server_context.loop.now_ns += UW_LINGER_NS + UW_NS_PER_SECOND;
    uw_connection_timeout(connection);
    CHECK(fake.closed);
    end(&fake);
}

TEST(nor_for_one_that_is_gone)
{
    struct fake fake = {
        .input_ends = FAKE_CLIENT_GOES_ON, .sends_fail_after = FAKE_NEVER, .keeps_last_word = true, .fails = fails};

    (void)say_all(&fake);
    CHECK(!fake.closed);
    fake.input_ends = -ECONNRESET;
    run(&fake);
    CHECK(fake.closed);
    end(&fake);
}

/* How long a connection that has come to its end, or has not begun, is waited for from now on. */
static int64_t wait_ns(const struct uw_connection *connection)
{
    return connection->read_deadline_ns - server.server_context.loop.now_ns;
}

TEST(a_server_that_drains_waits_less_for_a_client_that_keeps_its_side_open)
{
    struct fake fake = {.input_ends = FAKE_CLIENT_GOES_ON, .sends_fail_after = FAKE_NEVER, .fails = fails};
    struct uw_connection *connection = say_all(&fake);

    CHECK_EQUAL(UW_CONNECTION_LINGERING, connection->state);
    CHECK(wait_ns(connection) > UW_DRAIN_IDLE_NS);
    uw_server_drain(&server);
    CHECK_EQUAL(UW_DRAIN_IDLE_NS, wait_ns(connection));
    server.server_context.loop.now_ns += UW_DRAIN_IDLE_NS;
    uw_connection_timeout(connection);
    CHECK(fake.closed);
    end(&fake);
}

TEST(and_for_one_that_does_not_shake_hands)
{
    struct fake fake = {.shakes_hands = true, .input_ends = FAKE_CLIENT_GOES_ON, .fails = fails};
    struct uw_connection *connection;

    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, "poll", (struct uw_handler){.notify = notify}));
    fake_connect(&server.server_context, &silent, &fake);
    connection = uw_container_of(fake.endpoint, struct uw_connection, endpoint);
    CHECK_EQUAL(LONG_NS, wait_ns(connection));
    uw_server_drain(&server);
    CHECK_EQUAL(UW_HANDSHAKE_GRACE_NS, wait_ns(connection));
    server.server_context.loop.now_ns += UW_HANDSHAKE_GRACE_NS;
    uw_connection_timeout(connection);
    CHECK(fake.closed);
    end(&fake);
}

TEST_MAIN
