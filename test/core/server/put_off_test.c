/* A deadline that was put off, and passes while the loop's thread is away: who has sent something in time is served. */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "loopback.h"
#include "server/connection.h"
#include "server/server.h"

#define CLIENTS 300 /* more than one look at a loop tells of */
#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define HEAD_TIMEOUT_NS UW_NS_PER_SECOND /* a loaded machine takes its turns within it */
#define KEEP_ALIVE_NS (HEAD_TIMEOUT_NS + UW_NS_PER_SECOND / 4)
#define ABSENCE_NS (KEEP_ALIVE_NS + UW_NS_PER_SECOND / 4)
#define LONG_NS (60 * UW_NS_PER_SECOND)

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_MAX},
    .connections_max = CLIENTS,
    .head_timeout_ns = HEAD_TIMEOUT_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = KEEP_ALIVE_NS,
    .write_timeout_ns = LONG_NS,
};
static const char request_text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n";

static struct uw_server server;
static int clients[CLIENTS];

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_chunk *chunk = uw_chunk_copy(answer, sizeof answer - 1);

    (void)context;
    CHECK(event == UW_EVENT_REQUEST && chunk != NULL);
    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static void allow_descriptors(void)
{
    struct rlimit limit;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
}

static void send_requests(void)
{
    for (int i = 0; i < CLIENTS; i++)
        CHECK_EQUAL(sizeof request_text - 1, send(clients[i], request_text, sizeof request_text - 1, 0));
}

static void turn_until_served(uint64_t requests)
{
    for (int i = 0; i < TURNS_MAX && server.service.counts.requests < requests; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(requests, server.service.counts.requests);
}

static void be_away(void)
{
    static const struct timespec long_enough = {.tv_sec = ABSENCE_NS / UW_NS_PER_SECOND,
                                                .tv_nsec = ABSENCE_NS % UW_NS_PER_SECOND};

    (void)nanosleep(&long_enough, NULL);
}

static void go_away_with_deadlines_put_off(const char *backend)
{
    int listener = listen_on_loopback();

    allow_descriptors();
    CHECK_EQUAL(0, uw_server_open(&server, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(listener);
        while (uw_server_connections(&server) <= (size_t)i)
            CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    }
    send_requests();
    turn_until_served(CLIENTS); /* from here on the deadline is another than the timer's */
    send_requests();
    be_away();
    turn_until_served(2 * CLIENTS);
    CHECK_EQUAL(0, server.service.counts.timeouts);
    CHECK_EQUAL(CLIENTS, uw_server_connections(&server));
    uw_server_close(&server);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    close(listener);
}

TEST(who_has_sent_in_time_is_served)
{
    on_each_backend(go_away_with_deadlines_put_off);
}

TEST_MAIN
