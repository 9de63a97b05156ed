/* Server-sent events over real sockets. */
#include "push/event_stream.h"

#include <pthread.h>

#include "composition/upgrade_kinds.h"
#include "push/event_stream_frame.h"
#include "push/event_stream_request.h"
#include "push/push_client_echo_server.h"
#include "server/connection.h"
#include "websocket/frame.h"

#define HEADERS "GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"
#define RUBBISH_BYTES (4 * 1024 * 1024)

static const char response_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
                                    "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n";

static void upgrade(struct uw_request *request)
{
    const struct uw_upgrade_kind *way = uw_upgrade_wanted(&request->head, request->bytes);
    const struct uw_response_writer *writer = request->writer;
    struct uw_chunk *chunk = NULL;
    struct uw_http_response response;

    CHECK(way && strcmp(way->name, "sse") == 0 && way->client_kind == &uw_push_client_event_stream);
    client = uw_push_client_new(&server.server_context, &uw_push_client_event_stream, NULL);
    CHECK_EQUAL(0, uw_http_response_begin(&response, &request->head, (int)way->status));
    CHECK_EQUAL(0, writer->status(&chunk, &response));
    CHECK_EQUAL(0, way->accept(writer, &chunk, &request->head, request->bytes, client));
    CHECK_EQUAL(0, writer->connection(&chunk, &response));
    CHECK_EQUAL(0, writer->end_head(&chunk));
    hand_over_upgrade(request, chunk);
}

static void begin_by(const char *backend, const char *request)
{
    open_server(backend);
    fd = connect_to(listener);
    send_bytes(request, strlen(request));
    expect(response_head, sizeof response_head - 1);
}

static void begin(const char *backend)
{
    begin_by(backend, HEADERS);
}

/* Frames */

#define TEXT(literal) literal, sizeof(literal) - 1
#define NONE NULL, 0

static const struct {
    struct uw_sent_event event;
    const char *expected;
} frames[] = {
    {{TEXT("hello"), NONE, NONE, -1}, "data: hello\n\n"},
    {{TEXT(""), NONE, NONE, -1}, "data: \n\n"},
    {{TEXT(" b"), NONE, NONE, -1}, "data:  b\n\n"},
    {{TEXT("a\nb"), NONE, NONE, -1}, "data: a\ndata: b\n\n"},
    {{TEXT("a\r\nb\rc\n"), NONE, NONE, -1}, "data: a\ndata: b\ndata: c\ndata: \n\n"},
    {{TEXT("\n\r"), NONE, NONE, -1}, "data: \ndata: \ndata: \n\n"},
    {{TEXT("\r"), NONE, NONE, -1}, "data: \ndata: \n\n"},
    {{TEXT("x"), TEXT("tick"), TEXT("7"), 1500}, "event: tick\nid: 7\nretry: 1500\ndata: x\n\n"},
    {{TEXT("x"), NONE, TEXT(""), -1}, "id: \ndata: x\n\n"},
    {{NONE, NONE, TEXT("8"), -1}, "id: 8\n\n"},
    {{NONE, NONE, NONE, INT64_MAX}, "retry: 9223372036854775807\n\n"},
    {{NONE, NONE, NONE, 0}, "retry: 0\n\n"},
};

TEST(events_as_they_are_sent)
{
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct uw_chunk *chunk = uw_event_stream_frame(NULL, &frames[i].event);
        bool right =
            chunk->length == strlen(frames[i].expected) && memcmp(chunk->bytes, frames[i].expected, chunk->length) == 0;

        CHECK(right);
        if (!right)
            printf("%.*s instead of %s", (int)chunk->length, chunk->bytes, frames[i].expected);
        uw_chunk_free(chunk);
    }
}

/* The longest that data can become, and what does not fit into a chunk of a slab. */
TEST(data_of_nothing_but_line_ends)
{
    static const size_t lengths[] = {1, 100, 290, 300, 100000};
    char *data = malloc(100000);
    struct uw_slab slab;

    memset(data, '\n', 100000);
    uw_slab_init(&slab, UW_CHUNK_SLAB_BYTES);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct uw_chunk *chunk = uw_event_stream_frame(
            &slab, &(struct uw_sent_event){.data = data, .data_length = lengths[i], .retry_ms = -1});

        CHECK_EQUAL((lengths[i] + 1) * 7 + 1, chunk->length);
        CHECK(memcmp(chunk->bytes + chunk->length - 8, "data: \n\n", 8) == 0);
        CHECK_EQUAL(lengths[i] < 290, chunk->slab != NULL);
        uw_chunk_free(chunk);
    }
    uw_slab_destroy(&slab);
    free(data);
}

/* Requests */

#define GET(version, accept) "GET / HTTP/" version "\r\nHost: a\r\n" accept "\r\n\r\n"

static const char *const wants[] = {
    GET("1.1", "Accept: text/event-stream"),
    GET("1.0", "Accept: text/event-stream"),
    GET("1.1", "aCCEPT: text/html, TEXT/Event-Stream ; q=0.001"),
    GET("1.1", "Accept: text/html\r\nAccept: ,, text/event-stream;charset=utf-8;q=1.0, */*"),
    GET("1.1", "Accept: text/event-stream;q=0, text/event-stream;charset=utf-8"),
};

static const char *const wants_not[] = {
    GET("1.1", "Host-Not: a"),
    GET("1.1", "Accept:"),
    GET("1.1", "Accept: */*"),
    GET("1.1", "Accept: text/*"),
    GET("1.1", "Accept: text/event-stream;q=0"),
    GET("1.1", "Accept: text/event-stream;charset=utf-8; q=0.000"),
    GET("1.1", "Accept: text/event-stream;q=2"),
    GET("1.1", "Accept: text/event-streams"),
    GET("1.1", "Accept: text/event-streams;q=1"),
    GET("1.1", "Accept: text/event-stream q=1"),
    GET("1.1", "Accept: application/text/event-stream"),
    GET("1.1", "Accept-Encoding: text/event-stream"),
    "HEAD / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nContent-Length: 0\r\n\r\n",
};

TEST(requests_that_ask_for_events)
{
    is_wanted = uw_event_stream_is_wanted;
    check_wanted(wants, sizeof wants / sizeof *wants, true);
    check_wanted(wants_not, sizeof wants_not / sizeof *wants_not, false);
}

TEST(fields_that_are_not_the_applications)
{
    CHECK(uw_upgrade_writes(TEXT("Content-Type")));
    CHECK(uw_upgrade_writes(TEXT("content-length")));
    CHECK(uw_upgrade_writes(TEXT("TRANSFER-ENCODING")));
    CHECK(uw_upgrade_writes(TEXT("content-encoding")));
    CHECK(uw_upgrade_writes(TEXT("x-accel-buffering")));
    CHECK(!uw_upgrade_writes(TEXT("cache-control")));
    CHECK(!uw_upgrade_writes(TEXT("content-typ")));
    CHECK(!uw_upgrade_writes(TEXT("content-type-x")));
    CHECK(!uw_upgrade_writes(TEXT("")));
}

/* Streams */

static void writing(const char *backend)
{
    static const struct uw_sent_event event = {TEXT("now"), TEXT("tick"), TEXT("1"), -1};

    begin(backend);
    CHECK(write_text("a\nb", 3));
    CHECK(uw_push_client_send(client, uw_event_stream_frame(&server.server_context.chunks, &event)));
    CHECK(uw_push_client_send(client, uw_chunk_copy(TEXT("data: as it is\n\n"))));
    EXPECT("data: a\ndata: b\n\nevent: tick\nid: 1\ndata: now\n\ndata: as it is\n\n");
    CHECK(uw_push_client_is_open(client));
    close_client();
    CHECK(!uw_push_client_is_open(client));
    end("oc");
}

TEST(what_is_written_comes)
{
    on_each_backend(writing);
}

/* The response is the same: it ends with the connection anyway. */
static void to_http_1_0(const char *backend)
{
    begin_by(backend, "GET /events HTTP/1.0\r\nAccept: text/event-stream\r\n\r\n");
    CHECK(write_text("a", 1));
    uw_push_client_end(client, 1000, "bye", 3);
    CHECK(!uw_push_client_is_open(client));
    EXPECT("data: a\n\n");
    expect_end();
    end("oc");
}

TEST(a_client_of_http_1_0)
{
    on_each_backend(to_http_1_0);
}

/* All of it comes before the end, of a client that reads late, too. */
static void ending(const char *backend)
{
    char *data = calloc(1, CLIENT_BYTES_MAX);

    memset(data, 'x', CLIENT_BYTES_MAX);
    begin(backend);
    CHECK(write_text(data, CLIENT_BYTES_MAX));
    uw_push_client_end(client, 1000, "", 0);
    uw_push_client_end(client, UW_CLOSE_GOING_AWAY, "", 0);
    CHECK(!write_text("never", 5));
    EXPECT("data: ");
    expect(data, CLIENT_BYTES_MAX);
    EXPECT("\n\n");
    expect_end();
    end("oc");

    ends_at_once = true;
    begin(backend);
    EXPECT("data: now\n\n");
    expect_end();
    end("oc");
    ends_at_once = false;
    free(data);
}

TEST(the_server_ends_it)
{
    on_each_backend(ending);
}

static void closing_its_side(const char *backend)
{
    begin(backend);
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    await_no_connections();
    close(fd);
    end("oc");

    open_server(backend); /* before it has been answered */
    fd = connect_to(listener);
    send_bytes(HEADERS, sizeof HEADERS - 1);
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    await_events(1);
    await_no_connections();
    close(fd);
    CHECK(strcmp(events, "oc") == 0 || strcmp(events, "c") == 0);
    close_server();
}

TEST(a_client_that_closes_its_side)
{
    on_each_backend(closing_its_side);
}

static void closing_its_side_while_events_are_sent(const char *backend)
{
    size_t bytes;

    begin(backend);
    bytes = write_until_behind();
    CHECK_EQUAL(0, shutdown(fd, SHUT_WR));
    await_ending();
    CHECK(!write_text("late", 4));
    expect_at_least(bytes);
    end("oc");
}

TEST(what_was_written_comes_before_the_end)
{
    buffer_bytes = SMALL_BUFFER_BYTES;
    on_each_backend(closing_its_side_while_events_are_sent);
    buffer_bytes = 0;
}

/* Nothing of it is kept, and it does not keep events from coming. */
static void rubbish(const char *backend)
{
    char *bytes = calloc(1, RUBBISH_BYTES);

    begin_by(backend, HEADERS "GET /behind HTTP/1.1\r\nHost: a\r\n\r\n");
    send_bytes(bytes, RUBBISH_BYTES);
    CHECK(write_text("still there", 11));
    EXPECT("data: still there\n\n");
    close_client();
    end("oc");
    free(bytes);
}

TEST(a_client_that_sends_what_nobody_asked_for)
{
    on_each_backend(rubbish);
}

static void draining(const char *backend)
{
    static const char after[] = "\n\n";
    char retry[] = "retry: ....";
    int retry_ms;

    begin(backend);
    uw_server_drain(&server);
    CHECK_EQUAL(sizeof retry - 1, receive(retry, sizeof retry - 1));
    CHECK_EQUAL(1, sscanf(retry, "retry: %d", &retry_ms));
    CHECK(retry_ms >= UW_EVENT_STREAM_RETRY_MIN_MS && retry_ms < UW_EVENT_STREAM_RETRY_MAX_MS);
    expect(after, sizeof after - 1);
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

/* What the handler writes on that occasion comes still; the time at which it is told is anywhere in what there is. */
static void leaving(const char *backend)
{
    begin(backend);
    keeps = true;
    atomic_store(&server.server_context.drain_spread_ns, UW_NS_PER_SECOND / 20);
    uw_server_drain(&server);
    await_events(2);
    CHECK(strcmp(events, "os") == 0);
    CHECK(write_text("farewell", 8));
    keeps = false;
    answer_waiting();
    EXPECT("data: farewell\n\nretry: ");
    for (char byte = 0; byte != '\n';)
        if (receive(&byte, 1) != 1)
            break;
    EXPECT("\n");
    expect_end();
    end("osc");
}

TEST(the_handler_has_a_last_word)
{
    on_each_backend(leaving);
}

static void silence(const char *backend)
{
    settings.idle_timeout_ns = UW_NS_PER_SECOND / 50;
    begin(backend); /* the deadline runs from here */
    settings.idle_timeout_ns = 0;
    EXPECT(":\n\n:\n\n");
    atomic_store(&client->idle_timeout_ns, 0); /* from what is sent next on */
    CHECK(write_text("a", 1));
    for (int i = 0; i < TURNS_MAX && client->stream.connection->read_deadline_ns != UW_FOREVER; i++)
        turn();
    CHECK_EQUAL(UW_FOREVER, client->stream.connection->read_deadline_ns);
    close_client();
    end("oc");
}

TEST(silence_is_broken)
{
    on_each_backend(silence);
}

static void failing(const char *backend)
{
    open_server(backend);
    fails = true;
    fd = connect_to(listener);
    send_bytes(HEADERS, sizeof HEADERS - 1);
    expect(response_head, sizeof response_head - 1);
    expect_end();
    end("oc");
}

TEST(a_handler_that_fails)
{
    on_each_backend(failing);
}

static void gone_at_the_answer(const char *backend)
{
    open_server(backend);
    disconnects = true;
    fd = connect_to(listener);
    send_bytes(HEADERS, sizeof HEADERS - 1);
    await_events(1);
    close_client();
    disconnects = false;
    CHECK(!uw_push_client_is_open(client));
    end("c");
}

TEST(a_client_that_is_gone_before_the_answer)
{
    on_each_backend(gone_at_the_answer);
}

static void *write_from_afar(void *argument)
{
    for (int i = 0; i < 100; i++)
        uw_push_client_post(client, client->kind->frame(NULL, true, "post", 4));
    uw_push_client_post_end(client, 1000, "done", 4);
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
        EXPECT("data: post\n\n");
    expect_end();
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    end("oc");
}

TEST(other_threads_write)
{
    on_each_backend(from_other_thread);
}

/* One who does not read is behind at some time, is told when all has been sent, and sees the end. */
static void behind(const char *backend)
{
    char *data = calloc(1, 65536);
    size_t length = sizeof "data: \n\n" - 1 + 65536, written = 0, got = 0, told;

    begin(backend);
    atomic_store(&client->wants_drained, true);
    for (; !uw_push_client_is_behind(client); written += length) {
        CHECK(write_text(data, 65536));
        turn();
    }
    while (got < written) {
        size_t count = receive(data, written - got < 65536 ? written - got : 65536);

        if (!count)
            break;
        got += count;
    }
    CHECK_EQUAL(written, got);
    for (int i = 0; i < TURNS_MAX && atomic_load(&client->stream.outgoing_bytes); i++)
        turn();
    CHECK(!uw_push_client_is_behind(client));
    told = strlen(events);
    CHECK(write_text("again", 5));
    EXPECT("data: again\n\n");
    await_events(told + 1);
    CHECK(told > 1 && strcmp(events + told, "d") == 0);
    uw_push_client_end(client, UW_CLOSE_POLICY, "slow", 4);
    expect_end();
    end(events);
    free(data);
}

TEST(a_client_that_does_not_read)
{
    on_each_backend(behind);
}

static void closing(const char *backend)
{
    begin(backend);
    CHECK(write_text("never sent", 10));
    close(fd);
    close_server();
}

TEST(the_server_closes_with_a_client)
{
    on_each_backend(closing);
}

TEST_MAIN
