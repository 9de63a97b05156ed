/* Health checks: answered without the handler, and refused once the server wants no new clients. */
#include "server/health.h"

#include <string.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "loopback_sockets.h"
#include "server/server.h"

#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 100)
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define ANSWER_BYTES_MAX 1024

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 100,
    .body_memory_bytes_max = 100,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
    .health_path = "/up",
    .ready_path = "/ready",
};

static struct uw_server server;
static int listener, client;
static char answer[ANSWER_BYTES_MAX + 1];

/* A request that is no health check gets this answer. */
static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_chunk *chunk;

    (void)context;
    CHECK_EQUAL(UW_EVENT_REQUEST, event);
    if (uw_health_try(request))
        return;
    chunk = uw_chunk_copy("handler", 7);
    CHECK(chunk != NULL);
    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static void open_all(const char *backend)
{
    listener = listen_on_loopback();
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_to(listener);
}

static void close_all(void)
{
    close(client);
    uw_server_close(&server);
    close(listener);
}

static bool has_end(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* Returns the answer, which ends with `end`. */
static const char *ask(const char *line, const char *end)
{
    char request[ANSWER_BYTES_MAX];
    int length = snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: a\r\n\r\n", line);
    size_t got = 0;

    *answer = '\0';
    CHECK_EQUAL(length, send(client, request, (size_t)length, MSG_NOSIGNAL));
    for (int i = 0; i < TURNS_MAX && !has_end(answer, end); i++) {
        ssize_t more;

        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
        more = recv(client, answer + got, ANSWER_BYTES_MAX - got, MSG_DONTWAIT);
        got += more > 0 ? (size_t)more : 0;
        answer[got] = '\0';
    }
    CHECK(has_end(answer, end));
    return answer;
}

static bool is_kept(const char *text)
{
    return !strstr(text, "Connection: close\r\n");
}

static void exactly_the_paths(const char *backend)
{
    open_all(backend);
    CHECK(!strncmp("HTTP/1.1 200 OK\r\n", ask("GET /up", "\r\n\r\nok\n"), 17));
    CHECK(strstr(answer, "\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nContent-Length: 3\r\n"));
    CHECK(is_kept(answer));
    ask("GET /ready?a=b", "\r\n\r\nok\n");
    ask("GET http://a/up", "\r\n\r\nok\n");
    CHECK(strstr(ask("HEAD /up", "\r\n\r\n"), "\r\nContent-Length: 3\r\n"));
    ask("POST /up", "handler");
    ask("GET /u", "handler");
    ask("GET /up/", "handler");
    ask("OPTIONS *", "handler");
    close_all();
}

TEST(exactly_the_paths_are_answered)
{
    on_each_backend(exactly_the_paths);
}

static void after_the_announcement(const char *backend)
{
    open_all(backend);
    ask("GET /ready", "ok\n");
    uw_server_announce_drain(&server);
    CHECK(!strncmp("HTTP/1.1 503 Service Unavailable\r\n", ask("GET /ready", "\r\n\r\ndraining\n"), 34));
    CHECK(!is_kept(answer));
    close(client);
    client = connect_to(listener);
    CHECK(!is_kept(ask("GET /up", "\r\n\r\nok\n")));
    close_all();
}

TEST(a_server_that_has_announced_its_drain_is_not_ready)
{
    on_each_backend(after_the_announcement);
}

/* Another process serves from the listeners of a server that drains, unless these are closed. */
static void drains(const char *backend, bool closes)
{
    open_all(backend);
    ask("GET /ready", "ok\n");
    if (closes)
        uw_server_close_listeners(&server);
    uw_server_drain(&server);
    CHECK(!is_kept(ask("GET /ready", closes ? "draining\n" : "ok\n")));
    close_all();
}

TEST(a_server_that_drains_is_ready_while_its_listeners_are_open)
{
    for (int i = 0; uw_backends[i]; i++)
        for (int closes = 0; closes < 2 && !uw_backend_probe(uw_backends[i]); closes++)
            drains(uw_backends[i]->name, closes);
}

TEST(without_a_path_there_is_no_health_check)
{
    const struct uw_server_settings none = {0}, one = {.ready_path = "/"};

    CHECK(!uw_health_is_on(&none));
    CHECK(uw_health_is_on(&one) && uw_health_is_on(&settings));
}

TEST_MAIN
