/* HTTP/1.1 on a connection over a transport that splits, delays and fails at every byte and every call; and handlers
 * that answer at once, later, from another thread, or never. Whatever happens, nothing is left behind. */
#include <pthread.h>
#include <sys/resource.h>

#include "check.h"
#include "composition/composition.h"
#include "http1/http1.h"
#include "server/fake_transport.h"
#include "server/server.h"

#define STEPS_MAX 20000
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define SEEN_BYTES_MAX 4096
#define BODY_MEMORY_BYTES 4096

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 1024 * 1024,
    .body_memory_bytes_max = BODY_MEMORY_BYTES,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};
static const char pair[] = "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                           "POST /second HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n"
                           "GET /third HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
#define PAIR_BYTES (sizeof pair - 1)

enum when { AT_ONCE, LATER, FROM_A_THREAD, IN_TWO_PIECES, WITH_AN_ABORT, NEVER };

static struct uw_server server;
static enum when when;
static struct uw_request *waiting; /* for an answer */
static char seen[SEEN_BYTES_MAX];  /* what the requests were */
static size_t seen_length;
static int client_gone;
static uint64_t reported, cut_off; /* requests; and those whose clients left within the content */

static void fails(const char *what)
{
    printf("the connection does not %s\n", what);
    check_failures++;
}

static void note(const char *bytes, size_t length)
{
    CHECK(seen_length + length < sizeof seen);
    memcpy(seen + seen_length, bytes, length);
    seen_length += length;
}

static void note_request(const struct uw_request *request)
{
    const struct uw_http_head *head = &request->head;

    note(uw_request_text(request, head->method_name), head->method_name.length);
    note(uw_request_text(request, head->target), head->target.length);
    if (request->body.length)
        note(request->body.memory, (size_t)request->body.length);
    note("|", 1);
}

static struct uw_chunk *response_to(const struct uw_request *request, bool from_slab)
{
    static const char kept[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes";
    static const char closed[] = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nyes";
    bool keeps = uw_request_keeps_alive(request);
    const char *text = keeps ? kept : closed;
    struct uw_chunk *chunk = from_slab ? uw_chunk_take(&server.server_context.chunks) : uw_chunk_new(strlen(text));

    CHECK(chunk != NULL);
    memcpy(chunk->bytes, text, strlen(text));
    chunk->length = strlen(text);
    chunk->flags = UW_CHUNK_FINISH | (keeps ? 0 : UW_CHUNK_CLOSE);
    return chunk;
}

static void answer(struct uw_request *request)
{
    uw_request_send(request, response_to(request, true));
}

static void *answer_from_thread(void *argument)
{
    uw_request_post(argument, response_to(argument, false));
    return NULL;
}

/* The thread has ended when the loop looks for its message. */
static void have_thread_answer(struct uw_request *request)
{
    pthread_t thread;

    CHECK_EQUAL(0, pthread_create(&thread, NULL, answer_from_thread, request));
    CHECK_EQUAL(0, pthread_join(thread, NULL));
}

static void answer_in_two_pieces(struct uw_request *request)
{
    struct uw_chunk *whole = response_to(request, false), *first = uw_chunk_copy(whole->bytes, 10);

    memmove(whole->bytes, whole->bytes + 10, whole->length - 10);
    whole->length -= 10;
    uw_request_send(request, first);
    uw_request_send(request, whole);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    if (event == UW_EVENT_REQUEST)
        note_request(request);
    if (when == AT_ONCE)
        answer(request);
    else
        waiting = request;
}

static void answered(void *context, struct uw_request *request)
{
    (void)context;
    CHECK(request->reported && request->head.target.length > 0);
    CHECK(request->complete_ns || uw_request_is_abandoned(request, false));
    *(request->complete_ns ? &reported : &cut_off) += 1;
}

/* Who answers later does so between two turns. */
static bool answer_waiting(void)
{
    struct uw_request *request = waiting;

    if (!request || (when == NEVER && !atomic_load(&request->client_gone)))
        return false;
    waiting = NULL;
    client_gone += atomic_load(&request->client_gone);
    if (when == WITH_AN_ABORT)
        uw_request_abort(request);
    else if (when == FROM_A_THREAD)
        have_thread_answer(request);
    else if (when == IN_TWO_PIECES)
        answer_in_two_pieces(request);
    else
        answer(request);
    return true;
}

static struct fake client_that_sends(const char *bytes, size_t length)
{
    return (struct fake){.input = bytes,
                         .input_length = length,
                         .input_ends = FAKE_CLIENT_GOES_ON,
                         .sends_fail_after = FAKE_NEVER,
                         .fails = fails};
}

static void begin(enum when answers)
{
    when = answers;
    waiting = NULL;
    seen_length = 0;
    client_gone = 0;
    reported = cut_off = 0;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, "poll",
                                  (struct uw_handler){.notify = notify, .answered = answered}));
}

static void turn(void)
{
    CHECK_EQUAL(0, uw_server_turn(&server, 0));
}

static void run_until_quiet(struct fake *fake)
{
    int steps = 0;

    for (; steps < STEPS_MAX; steps++) {
        bool told = fake_step(fake);

        turn();
        told = answer_waiting() || told;
        turn();
        if (!told && !(fake->endpoint && fake->endpoint->sending && !fake->holds_sends))
            break;
    }
    CHECK(steps < STEPS_MAX);
}

static void check_nothing_is_left(const struct fake *fake)
{
    CHECK(fake->released && fake->endpoint == NULL);
    CHECK_EQUAL(0, server.server_context.connections.taken);
    CHECK_EQUAL(0, server.server_context.requests.taken);
    CHECK_EQUAL(0, server.server_context.chunks.taken);
    CHECK(uw_list_empty(&server.server_context.all) && uw_list_empty(&server.server_context.dirty));
    CHECK(uw_list_empty(&server.server_context.dead));
    CHECK_EQUAL(server.server_context.counts.requests, reported);
    CHECK_EQUAL(server.accept_retry.active, server.server_context.loop.timers.count);
}

/* Serves one client to its end. */
static void serve(struct fake *fake, enum when answers)
{
    begin(answers);
    fake_connect(&server.server_context, &uw_protocol_http1, fake);
    run_until_quiet(fake);
}

/* The client reads what there is, and closes. */
static void finish(struct fake *fake)
{
    fake->input_ends = 0;
    run_until_quiet(fake);
    if (fake->endpoint)
        fails("end with its client");
    else
        check_nothing_is_left(fake);
    uw_server_close(&server);
}

static const char pair_seen[] = "POST/firsthello|POST/secondabcdefg|GET/third|";
static const char pair_answers[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
                                   "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
                                   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nyes";
#define ANSWERS_BYTES (sizeof pair_answers - 1)

static void check_pair(const struct fake *fake)
{
    CHECK_EQUAL(sizeof pair_seen - 1, seen_length);
    CHECK(memcmp(seen, pair_seen, sizeof pair_seen - 1) == 0);
    CHECK_EQUAL(ANSWERS_BYTES, fake->output_length);
    CHECK(fake->output && memcmp(fake->output, pair_answers, ANSWERS_BYTES) == 0);
    CHECK(fake->shut);
    CHECK_EQUAL(3, server.server_context.counts.requests);
}

static const enum when ways_to_answer[] = {AT_ONCE, LATER, FROM_A_THREAD, IN_TWO_PIECES};
#define WAYS (sizeof ways_to_answer / sizeof *ways_to_answer)

/* First so many bytes, the rest once all that came of them has been told. */
static void split_at(size_t first, enum when answers)
{
    struct fake fake = client_that_sends(pair, first);

    serve(&fake, answers);
    fake.input_length = PAIR_BYTES;
    run_until_quiet(&fake);
    check_pair(&fake);
    finish(&fake);
    fake_free(&fake);
}

TEST(every_split_of_pipelined_requests_gives_the_same)
{
    for (size_t way = 0; way < WAYS; way++)
        for (size_t first = 0; first <= PAIR_BYTES; first++)
            split_at(first, ways_to_answer[way]);
}

TEST(pieces_of_any_size_give_the_same)
{
    for (size_t way = 0; way < WAYS; way++)
        for (size_t piece = 1; piece <= PAIR_BYTES; piece++) {
            struct fake fake = client_that_sends(pair, PAIR_BYTES);

            fake.piece = piece;
            serve(&fake, ways_to_answer[way]);
            check_pair(&fake);
            finish(&fake);
            fake_free(&fake);
        }
}

TEST(a_client_that_takes_any_number_of_bytes_at_once_gets_the_same)
{
    for (size_t most = 1; most <= ANSWERS_BYTES; most++)
        for (int gathers = 0; gathers < 2; gathers++) {
            struct fake fake = client_that_sends(pair, PAIR_BYTES);

            fake.send_most = most;
            fake.gathers = gathers;
            serve(&fake, most % 2 ? IN_TWO_PIECES : AT_ONCE);
            check_pair(&fake);
            finish(&fake);
            fake_free(&fake);
        }
}

/* What the client has is the beginning of the answers, whenever it goes. */
static void check_a_beginning(const struct fake *fake)
{
    CHECK(fake->output_length <= ANSWERS_BYTES);
    CHECK(!fake->output_length || memcmp(fake->output, pair_answers, fake->output_length) == 0);
}

/* Whether so many bytes end within the content of a request. */
static bool is_within_content(size_t bytes)
{
    size_t first = (size_t)(strstr(pair, "hello") - pair), second = (size_t)(strstr(pair, "3\r\nabc") - pair),
           third = (size_t)(strstr(pair, "GET") - pair);

    return (bytes >= first && bytes < first + strlen("hello")) || (bytes >= second && bytes < third);
}

static void leave_at(size_t bytes, int32_t how, enum when answers)
{
    struct fake fake = client_that_sends(pair, bytes);

    fake.input_ends = how;
    serve(&fake, answers);
    check_a_beginning(&fake);
    if (answers == NEVER && fake.endpoint) /* it still waits for its answer: until it is gone */
        uw_connection_close(uw_container_of(fake.endpoint, struct uw_connection, endpoint));
    finish(&fake);
    if (answers == AT_ONCE)
        CHECK_EQUAL(is_within_content(bytes), cut_off);
    fake_free(&fake);
}

TEST(a_client_may_leave_at_each_byte)
{
    static const enum when ways[] = {AT_ONCE, LATER, FROM_A_THREAD, NEVER};

    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
        for (size_t bytes = 0; bytes <= PAIR_BYTES; bytes++) {
            leave_at(bytes, 0, ways[way]);
            leave_at(bytes, -ECONNRESET, ways[way]);
        }
}

TEST(who_leaves_between_two_requests_is_told_of_the_end_and_whoever_is_cut_off_is_not)
{
    static const char one[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    static const struct {
        int32_t how;
        enum when answers;
        bool told;
    } cases[] = {{0, AT_ONCE, true}, {0, NEVER, false}, {-ECONNRESET, AT_ONCE, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake = client_that_sends(one, sizeof one - 1);

        fake.input_ends = cases[i].how;
        serve(&fake, cases[i].answers);
        if (fake.endpoint)
            uw_connection_close(uw_container_of(fake.endpoint, struct uw_connection, endpoint));
        CHECK_EQUAL(cases[i].told, fake.shut);
        finish(&fake);
        fake_free(&fake);
    }
}

static void fail_send_after(size_t sends, int32_t error, size_t most, enum when answers)
{
    struct fake fake = client_that_sends(pair, PAIR_BYTES);

    fake.sends_fail_after = sends;
    fake.send_error = error;
    fake.send_most = most;
    serve(&fake, answers);
    check_a_beginning(&fake);
    CHECK(fake.closed);
    finish(&fake);
    fake_free(&fake);
}

TEST(a_send_that_fails_ends_the_connection_and_leaves_nothing)
{
    static const int32_t errors[] = {-EPIPE, -ECONNRESET, -ENOMEM, 0};

    for (size_t way = 0; way < WAYS; way++)
        for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
            for (size_t sends = 0; sends <= ANSWERS_BYTES / 7; sends++)
                fail_send_after(sends, errors[e], 7, ways_to_answer[way]);
}

TEST(the_connection_ends_with_a_response_that_is_broken)
{
    struct fake fake = client_that_sends(pair, PAIR_BYTES);

    serve(&fake, WITH_AN_ABORT);
    CHECK_EQUAL(0, fake.output_length);
    CHECK(fake.closed && !fake.shut);
    CHECK_EQUAL(1, server.server_context.counts.requests);
    finish(&fake);
    fake_free(&fake);
}

/* In the midst of whatever it was doing. */
TEST(a_server_may_be_closed_at_each_step)
{
    for (size_t way = 0; way < WAYS; way++)
        for (int steps = 0; steps < 40; steps++) {
            struct fake fake = client_that_sends(pair, PAIR_BYTES);

            fake.piece = 9;
            fake.send_most = 11;
            begin(ways_to_answer[way]);
            fake_connect(&server.server_context, &uw_protocol_http1, &fake);
            for (int i = 0; i < steps && fake_step(&fake); i++) {
                turn();
                (void)answer_waiting();
            }
            uw_server_close(&server);
            CHECK(fake.released);
            fake_free(&fake);
        }
}

TEST(draining_answers_the_request_under_way_and_closes)
{
    for (size_t bytes = 1; bytes <= PAIR_BYTES; bytes++) {
        struct fake fake = client_that_sends(pair, bytes);

        begin(LATER);
        fake_connect(&server.server_context, &uw_protocol_http1, &fake);
        (void)fake_step(&fake);
        turn();
        uw_server_drain(&server);
        run_until_quiet(&fake);
        if (seen_length) { /* the first answer after it was the last */
            CHECK(fake.output_length > 0 && fake.shut);
            CHECK(memmem(fake.output, fake.output_length, "Connection: close", 17) != NULL);
        }
        finish(&fake);
        fake_free(&fake);
    }
}

TEST(what_is_no_request_is_refused_and_the_client_has_time_to_read_it)
{
    static const char bad[] = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";

    for (size_t first = 1; first < sizeof bad; first++) {
        struct fake fake = client_that_sends(bad, first);

        serve(&fake, AT_ONCE);
        fake.input_length = sizeof bad - 1;
        run_until_quiet(&fake);
        CHECK_EQUAL(0, server.server_context.counts.requests);
        CHECK_EQUAL(1, server.server_context.counts.refused);
        CHECK(fake.output && strncmp(fake.output, "HTTP/1.1 400 ", 13) == 0);
        CHECK(fake.shut && !fake.closed);
        finish(&fake);
        fake_free(&fake);
    }
}

/* Who sends ahead is not read from until there is room again. */
TEST(a_client_far_ahead_is_paused_and_every_request_answered_in_order)
{
    static char many[200 * 1024];
    static const char one[] = "GET /third HTTP/1.1\r\nHost: a\r\n\r\n";
    size_t length = 0;
    struct fake fake;
    bool paused = false;

    for (; length + sizeof one - 1 <= sizeof many; length += sizeof one - 1)
        memcpy(many + length, one, sizeof one - 1);
    fake = client_that_sends(many, length);
    fake.piece = 16384;
    begin(LATER);
    fake_connect(&server.server_context, &uw_protocol_http1, &fake);
    for (int i = 0; i < 12; i++) {
        (void)fake_step(&fake);
        turn();
        paused = paused || fake.pausing;
    }
    CHECK(paused && !fake.receiving && fake.received < length);
    CHECK(fake.received <= UW_PENDING_BYTES_MAX + 2 * 16384);
    while (waiting && server.server_context.counts.requests < 3) { /* they are taken one by one */
        seen_length = 0;
        (void)answer_waiting();
        turn();
    }
    for (int i = 0; i < STEPS_MAX && server.server_context.counts.requests < length / (sizeof one - 1); i++) {
        seen_length = 0;
        (void)answer_waiting();
        turn();
        (void)fake_step(&fake);
    }
    CHECK_EQUAL(length / (sizeof one - 1), server.server_context.counts.requests);
    seen_length = 0;
    run_until_quiet(&fake);
    CHECK_EQUAL(length / (sizeof one - 1) * 41, fake.output_length);
    finish(&fake);
    fake_free(&fake);
}

static struct uw_request *producing;
static int drained;

static void note_event(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    producing = request;
    drained += event == UW_EVENT_DRAINED;
}

/* More than a producer may be ahead. */
static void produce_much(struct fake *fake)
{
    static char much[UW_OUTGOING_HIGH_BYTES + 1];

    begin(NEVER);
    server.server_context.handler.notify = note_event;
    drained = 0;
    fake->holds_sends = true;
    fake_connect(&server.server_context, &uw_protocol_http1, fake);
    (void)fake_step(fake);
    uw_request_send(producing, uw_chunk_copy(much, sizeof much));
    CHECK(uw_request_await_drain(producing));
    turn();
    CHECK_EQUAL(0, drained);
}

static void finish_request(struct uw_request *request)
{
    struct uw_chunk *chunk = uw_chunk_new(0);

    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_CLOSE;
    uw_request_send(request, chunk);
}

TEST(a_producer_goes_on_once_little_is_left)
{
    struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);

    fake.send_most = 1000;
    produce_much(&fake);
    fake.holds_sends = false;
    while (!drained && fake_step(&fake))
        turn();
    CHECK_EQUAL(1, drained);
    CHECK(uw_request_outgoing(producing) <= UW_OUTGOING_LOW_BYTES);
    CHECK(uw_request_outgoing(producing) > UW_OUTGOING_LOW_BYTES - 1000);
    finish_request(producing);
    run_until_quiet(&fake);
    CHECK_EQUAL(1, drained);
    CHECK_EQUAL(UW_OUTGOING_HIGH_BYTES + 1, fake.output_length);
    finish(&fake);
    fake_free(&fake);
}

TEST(a_producer_that_waits_is_told_when_its_client_goes)
{
    for (int way = 0; way < 3; way++) {
        struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);

        produce_much(&fake);
        if (way == 0)
            fake.input_ends = -ECONNRESET;
        else if (way == 1)
            fake.sends_fail_after = 0;
        else
            uw_request_disconnect(producing);
        fake.holds_sends = way == 0;
        run_until_quiet(&fake);
        CHECK_EQUAL(1, drained);
        CHECK(atomic_load(&producing->client_gone));
        CHECK(!uw_request_await_drain(producing));
        CHECK_EQUAL(1, server.server_context.requests.taken);
        finish_request(producing);
        turn();
        finish(&fake);
        fake_free(&fake);
    }
}

/* The transport hands out no descriptor: the application has one end of a pair. */

static struct uw_detached detached;
static bool is_done, gives_up;

static void note_done(struct uw_detached *done)
{
    CHECK(done == &detached);
    is_done = true;
    if (gives_up)
        uw_request_abort(done->request);
}

static void take_connection(struct uw_request *request, const char *head)
{
    is_done = gives_up = false;
    detached = (struct uw_detached){.done = note_done, .head = head ? uw_chunk_copy(head, strlen(head)) : NULL};
    uw_request_detach(request, &detached);
}

static void run_until_output(struct fake *fake, size_t length)
{
    for (int i = 0; i < STEPS_MAX && fake->endpoint && fake->output_length < length; i++) {
        turn();
        (void)fake_step(fake);
    }
    CHECK_EQUAL(length, fake->output_length);
}

TEST(who_has_sent_his_last_byte_is_answered_by_whoever_takes_the_connection)
{
    static const char head[] = "HTTP/1.1 101 Switching Protocols\r\n\r\n", word[] = "bye";
    struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);

    fake.input_ends = 0;
    serve(&fake, NEVER);
    CHECK(waiting != NULL);
    take_connection(waiting, head);
    run_until_output(&fake, sizeof head - 1);
    CHECK(is_done && detached.fd >= 0 && !fake.closed);
    CHECK_EQUAL(1, reported);
    CHECK_EQUAL(sizeof word - 1, write(detached.fd, word, sizeof word - 1));
    run_until_output(&fake, sizeof head + sizeof word - 2);
    close(detached.fd);
    finish_request(waiting);
    waiting = NULL;
    finish(&fake);
    fake_free(&fake);
}

/* Both sides have said all, but the transport's last word still waits for room. */
TEST(a_connection_that_was_taken_ends_when_its_last_word_has_left_or_at_the_deadline)
{
    for (int late = 0; late < 2; late++) {
        struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
        struct uw_connection *connection;

        fake.input_ends = 0;
        fake.keeps_last_word = true;
        serve(&fake, NEVER);
        connection = uw_container_of(fake.endpoint, struct uw_connection, endpoint);
        take_connection(waiting, NULL);
        for (int i = 0; i < STEPS_MAX && !is_done; i++) {
            turn();
            (void)fake_step(&fake);
        }
        close(detached.fd);
        finish_request(waiting);
        waiting = NULL;
        for (int i = 0; i < STEPS_MAX && !fake.shut; i++)
            turn();
        CHECK(fake.shut && !fake.closed);
        fake.endpoint->send.pending = late;
        connection->server_context->loop.now_ns += UW_LINGER_NS + UW_NS_PER_SECOND;
        connection->timer.check_only = false; /* as that of the deadline itself */
        uw_connection_timeout(connection);
        CHECK(fake.closed);
        CHECK_EQUAL(late, fake.lost_last_word);
        turn();
        finish(&fake);
        fake_free(&fake);
    }
}

/* No descriptor is left for the pair. */
static void take_without_descriptors(struct fake *fake)
{
    struct rlimit before, none;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &none));
    for (int i = 0; i < STEPS_MAX && !is_done; i++) {
        uw_loop_turn(&server.server_context.loop, 0); /* the message */
        (void)fake_step(fake);
    }
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
    CHECK(is_done && detached.fd < 0);
}

TEST(whoever_gives_up_as_he_hears_that_the_connection_is_not_to_be_had_ends_it)
{
    struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);

    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind does not heed the limit of descriptors");
    serve(&fake, NEVER);
    take_connection(waiting, NULL);
    gives_up = true;
    waiting = NULL;
    take_without_descriptors(&fake);
    CHECK(fake.closed);
    alarm(60); /* a turn that never ends */
    turn();
    alarm(0);
    finish(&fake);
    fake_free(&fake);
}

TEST(whoever_hears_that_the_connection_is_not_to_be_had_has_all_the_time_to_answer)
{
    struct fake fake = client_that_sends("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
    struct uw_connection *connection;

    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind does not heed the limit of descriptors");
    serve(&fake, NEVER);
    connection = uw_container_of(fake.endpoint, struct uw_connection, endpoint);
    take_connection(waiting, NULL);
    take_without_descriptors(&fake);
    connection->server_context->loop.now_ns += LONG_NS;
    connection->timer.check_only = false; /* as that of the deadline itself */
    uw_connection_timeout(connection);
    CHECK(!fake.closed);
    finish_request(waiting);
    waiting = NULL;
    turn();
    finish(&fake);
    fake_free(&fake);
}

TEST_MAIN
