/* A connection's states, over a transport in memory and a protocol that says nothing by itself. */
#include "composition/composition.h"
#include "server/connection.h"

#include "check.h"
#include "http1/http1.h"
#include "server/fake_transport.h"
#include "server/server.h"

#define LONG_NS (60 * UW_NS_PER_SECOND)
#define STEPS_MAX 1000

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = UW_HANDSHAKES_HARD_MAX + 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};

static struct uw_server server;
static struct fake fake; /* the client */
static struct uw_connection *connection;
static int opened, closed, discarded;
static bool answering, keeps;
static char said[1024];
static struct uw_stream stream;

/* The protocol notes what it is told, a letter each. */
static void say(char letter)
{
    size_t length = strlen(said);

    CHECK(length + 1 < sizeof said);
    said[length] = letter;
}

static void note_opened(struct uw_connection *connection)
{
    stream.connection = connection;
    opened++;
    say('o');
}

static void note_received(struct uw_connection *connection, const char *bytes, size_t length)
{
    (void)connection, (void)bytes, (void)length;
    say('r');
}

static void note_receive_ended(struct uw_connection *connection, int32_t result)
{
    (void)connection;
    say(result == 0 ? 'e' : result == -ECANCELED ? 'p' : 'x');
}

static void note_sent(struct uw_connection *connection)
{
    (void)connection;
    say('s');
}

static void note_go_on(struct uw_connection *connection)
{
    (void)connection;
    say('g');
}

static void note_timed_out(struct uw_connection *connection)
{
    say('t');
    uw_connection_close(connection);
}

static void note_drain(struct uw_connection *connection)
{
    (void)connection;
    say('d');
}

static bool response_in_progress(const struct uw_connection *connection)
{
    (void)connection;
    return answering;
}

static void note_closed(struct uw_connection *connection)
{
    (void)connection;
    closed++;
    say('c');
}

static bool released(struct uw_connection *connection)
{
    (void)connection;
    return !keeps;
}

static void note_discarded(struct uw_connection *connection)
{
    (void)connection;
    discarded++;
}

static const struct uw_protocol silent = {
    .name = "silent",
    .opened = note_opened,
    .received = note_received,
    .receive_ended = note_receive_ended,
    .sent = note_sent,
    .resume = note_go_on,
    .timed_out = note_timed_out,
    .drain = note_drain,
    .response_in_progress = response_in_progress,
    .closed = note_closed,
    .released = released,
    .discarded = note_discarded,
};

static void fails(const char *what)
{
    printf("the connection does not %s\n", what);
    check_failures++;
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context, (void)request, (void)event;
    CHECK(!"a silent protocol has no requests");
}

static void begin(void)
{
    opened = closed = discarded = 0;
    answering = keeps = false;
    memset(said, 0, sizeof said);
    fake = (struct fake){.input_ends = FAKE_CLIENT_GOES_ON, .sends_fail_after = FAKE_NEVER, .fails = fails};
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, "poll", (struct uw_handler){.notify = notify}));
}

static void connect_client(void)
{
    fake_connect(&server.server_context, &silent, &fake);
    connection = fake.endpoint ? uw_container_of(fake.endpoint, struct uw_connection, endpoint) : NULL;
}

static void turn(void)
{
    CHECK_EQUAL(0, uw_server_turn(&server, 0));
}

static void come_to_rest(void)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        bool told = fake_step(&fake);

        turn();
        if (!told && !fake_step(&fake))
            return;
    }
    CHECK(!"it comes to rest");
}

static void hand_over(const char *text, unsigned flags)
{
    struct uw_chunk *chunk = uw_chunk_copy(text, strlen(text));

    CHECK(chunk != NULL);
    chunk->flags = flags;
    uw_connection_enqueue(connection, &stream, chunk);
}

static void say_good_bye(void)
{
    hand_over("bye", UW_CHUNK_CLOSE);
    uw_connection_flush_and_end(connection);
}

static void end(void)
{
    come_to_rest();
    CHECK(fake.released);
    CHECK_EQUAL(0, uw_server_connections(&server));
    CHECK_EQUAL(0, server.server_context.handshakes);
    CHECK_EQUAL(0, atomic_load(&stream.outgoing_bytes));
    CHECK_EQUAL(0, server.server_context.loop.timers.count);
    CHECK(uw_list_empty(&server.server_context.all) && uw_list_empty(&server.server_context.dirty));
    uw_server_close(&server);
    fake_free(&fake);
}

/* A test with a server and one client, of whom nothing is left in the end. */
#define VISIT(visit_name) \
    static void visit_name##_visit(void); \
    TEST(visit_name) \
    { \
        begin(); \
        visit_name##_visit(); \
        end(); \
    } \
    static void visit_name##_visit(void)

VISIT(a_protocol_is_asked_nothing_before_the_transport_is_ready)
{
    fake.shakes_hands = true;
    connect_client();
    CHECK_EQUAL(UW_CONNECTION_HANDSHAKE, connection->state);
    CHECK_EQUAL(1, server.server_context.handshakes);
    uw_connection_drain(connection);
    turn();
    CHECK_EQUAL(0, strlen(said));
    fake_ready(&fake);
    CHECK_EQUAL(UW_CONNECTION_OPEN, connection->state);
    CHECK_EQUAL(0, server.server_context.handshakes);
    CHECK(fake.receiving);
    CHECK(strcmp(said, "o") == 0);
    uw_connection_close(connection);
    come_to_rest();
    CHECK(strcmp(said, "oc") == 0);
}

VISIT(who_never_was_ready_is_closed_without_a_word_to_the_protocol)
{
    fake.shakes_hands = true;
    connect_client();
    uw_connection_close(connection);
    come_to_rest();
    CHECK_EQUAL(0, strlen(said));
}

VISIT(a_handshake_has_a_deadline)
{
    fake.shakes_hands = true;
    connect_client();
    server.server_context.loop.now_ns += LONG_NS + UW_NS_PER_SECOND;
    uw_connection_timeout(connection);
    come_to_rest();
    CHECK_EQUAL(1, server.server_context.counts.timeouts);
    CHECK_EQUAL(0, strlen(said));
}

VISIT(a_transport_that_cannot_be_opened_is_closed)
{
    fake.open_error = -ENOMEM;
    connect_client();
    come_to_rest();
    CHECK_EQUAL(0, opened);
}

static struct fake fakes[UW_HANDSHAKES_HARD_MAX + 1];

static void begin_handshakes(int from, int to)
{
    for (int i = from; i < to; i++) {
        fakes[i] = fake;
        fake_connect(&server.server_context, &silent, &fakes[i]);
    }
    turn();
}

TEST(one_handshake_too_many_ends_the_oldest_that_has_had_its_time)
{
    begin();
    fake.shakes_hands = true;
    begin_handshakes(0, UW_HANDSHAKES_MAX + 1);
    CHECK(!fakes[0].closed);
    CHECK_EQUAL(UW_HANDSHAKES_MAX + 1, server.server_context.handshakes);
    server.server_context.loop.now_ns += UW_HANDSHAKE_GRACE_NS;
    begin_handshakes(UW_HANDSHAKES_MAX + 1, UW_HANDSHAKES_MAX + 2);
    CHECK(fakes[0].released && fakes[1].released && !fakes[2].closed && !fakes[UW_HANDSHAKES_MAX + 1].closed);
    CHECK_EQUAL(UW_HANDSHAKES_MAX, server.server_context.handshakes);
    uw_server_close(&server);
}

TEST(far_too_many_handshakes_end_the_oldest)
{
    begin();
    fake.shakes_hands = true;
    begin_handshakes(0, UW_HANDSHAKES_HARD_MAX + 1);
    CHECK(fakes[0].released && !fakes[1].closed);
    CHECK_EQUAL(UW_HANDSHAKES_HARD_MAX, server.server_context.handshakes);
    uw_server_close(&server);
}

VISIT(what_is_outgoing_at_the_end_is_sent_and_the_client_has_time_to_read_it)
{
    fake.send_most = 4;
    fake.input = "ignored";
    fake.input_length = 7;
    connect_client();
    hand_over("the last answer", UW_CHUNK_CLOSE);
    uw_connection_flush_and_end(connection);
    CHECK_EQUAL(UW_CONNECTION_FLUSHING, connection->state);
    come_to_rest();
    CHECK_EQUAL(UW_CONNECTION_LINGERING, connection->state);
    CHECK_EQUAL(15, fake.output_length);
    CHECK(fake.shut && !fake.closed);
    CHECK(strcmp(said, "o") == 0); /* what came then is dropped */
    fake.input_ends = 0;
}

VISIT(nobody_lingers_for_ever)
{
    connect_client();
    say_good_bye();
    come_to_rest();
    CHECK_EQUAL(UW_CONNECTION_LINGERING, connection->state);
    server.server_context.loop.now_ns += UW_LINGER_NS + UW_NS_PER_SECOND;
    uw_connection_timeout(connection);
}

VISIT(who_has_said_all_does_not_linger)
{
    fake.input_ends = 0;
    connect_client();
    come_to_rest();
    say_good_bye();
    come_to_rest();
    CHECK_EQUAL(3, fake.output_length);
}

/* There is nothing to wait for. */
VISIT(nor_does_one_whose_end_cannot_be_told)
{
    fake.shut_error = -ENOTCONN;
    connect_client();
    say_good_bye();
    come_to_rest();
    CHECK_EQUAL(3, fake.output_length);
}

/* Its chunks stay as long as the transport reads them. */
static void close_in_the_midst_of_a_send(bool settles_at_once)
{
    fake.holds_sends = true;
    fake.settles_at_once = settles_at_once;
    connect_client();
    hand_over("an answer", 0);
    turn();
    CHECK(fake.endpoint->sending);
    uw_connection_close(connection);
    uw_connection_close(connection); /* once is enough */
    CHECK_EQUAL(1, closed);
    turn();
    CHECK_EQUAL(settles_at_once, fake.released);
    CHECK_EQUAL(settles_at_once ? 0 : 9, atomic_load(&stream.outgoing_bytes));
    come_to_rest();
    CHECK(strcmp(said, "oc") == 0);
}

VISIT(a_connection_closed_in_the_midst_of_a_send_waits_until_the_transport_has_settled)
{
    close_in_the_midst_of_a_send(false);
}

VISIT(a_transport_may_settle_at_once)
{
    close_in_the_midst_of_a_send(true);
}

VISIT(a_connection_whose_request_is_held_is_freed_only_afterwards)
{
    connect_client();
    keeps = true;
    uw_connection_close(connection);
    come_to_rest();
    CHECK_EQUAL(-1, connection->endpoint.fd); /* the client is gone all the same */
    CHECK_EQUAL(1, uw_server_connections(&server));
    CHECK(!fake.released);
    keeps = false;
    uw_connection_reap(connection);
    turn();
}

VISIT(receiving_pauses_and_goes_on_once)
{
    fake.input = "abc";
    fake.input_length = 3;
    fake.piece = 1;
    connect_client();
    CHECK(fake_step(&fake));
    uw_connection_pause(connection);
    uw_connection_resume(connection); /* too early: the transport has not stopped */
    CHECK(fake_step(&fake));
    CHECK(!fake.receiving);
    CHECK(strcmp(said, "orp") == 0);
    uw_connection_resume(connection);
    uw_connection_resume(connection);
    CHECK(fake.receiving);
    come_to_rest();
    CHECK(strcmp(said, "orprr") == 0);
    uw_connection_close(connection);
    uw_connection_resume(connection);
}

VISIT(going_on_later_is_once_at_the_end_of_the_turn)
{
    connect_client();
    uw_connection_schedule_resume(connection);
    uw_connection_schedule_resume(connection);
    CHECK(strcmp(said, "o") == 0);
    turn();
    turn();
    CHECK(strcmp(said, "og") == 0);
    uw_connection_schedule_resume(connection);
    uw_connection_close(connection);
    come_to_rest();
    CHECK(strcmp(said, "ogc") == 0);
}

VISIT(a_client_that_takes_nothing_is_let_go_at_the_deadline)
{
    fake.holds_sends = true;
    connect_client();
    hand_over("an answer", 0);
    turn();
    server.server_context.loop.now_ns = connection->write_deadline_ns;
    uw_connection_timeout(connection);
    CHECK_EQUAL(1, server.server_context.counts.timeouts);
}

VISIT(a_late_loop_excuses_its_client_once)
{
    fake.holds_sends = true;
    connect_client();
    hand_over("an answer", 0);
    turn();
    for (int late = 0; late < 2; late++) {
        CHECK_EQUAL(UW_CONNECTION_OPEN, connection->state);
        server.server_context.loop.now_ns = connection->write_deadline_ns + UW_LATE_LOOP_NS;
        uw_connection_timeout(connection);
    }
    CHECK_EQUAL(1, server.server_context.counts.timeouts);
}

static void bring_to(enum uw_connection_state state)
{
    fake.shakes_hands = state == UW_CONNECTION_HANDSHAKE;
    fake.holds_sends = state == UW_CONNECTION_FLUSHING;
    connect_client();
    if (state == UW_CONNECTION_FLUSHING || state == UW_CONNECTION_LINGERING) {
        say_good_bye();
        turn();
        (void)fake_step(&fake);
    } else if (state == UW_CONNECTION_CLOSED) {
        uw_connection_close(connection);
    }
    CHECK_EQUAL(state, connection->state);
}

TEST(a_server_that_closes_discards_in_every_state)
{
    for (int state = UW_CONNECTION_HANDSHAKE; state <= UW_CONNECTION_CLOSED; state++) {
        begin();
        bring_to((enum uw_connection_state)state);
        uw_server_close(&server);
        CHECK(fake.released);
        CHECK_EQUAL(1, discarded);
        CHECK_EQUAL(0, atomic_load(&stream.outgoing_bytes));
        fake_free(&fake);
    }
}

TEST_MAIN
