/* A deadline that was put off, and passes while the loop's thread is away: who has sent something in time is served. */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "loopback_sockets.h"
#include "retry_when_delayed.h"
#include "server/connection.h"
#include "server/server.h"

#define CLIENTS 300 /* more than one look at a loop tells of */
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define HEAD_TIMEOUT_NS UW_NS_PER_SECOND
#define LONG_NS (60 * UW_NS_PER_SECOND)

static struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = CLIENTS,
    .body_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};
static const char request_text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n";

static struct uw_server server;
static int clients[CLIENTS], connected;

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

/* Those who have been taken in have a deadline, by which they may be gone. */
static void connect_clients(int listener, int64_t until_ns)
{
    for (connected = 0; connected < CLIENTS && uw_clock_ns() < until_ns;) {
        clients[connected++] = connect_to(listener);
        while (uw_server_connections(&server) < (size_t)connected && uw_clock_ns() < until_ns)
            CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    }
}

static void send_requests(void)
{
    for (int i = 0; i < connected; i++)
        (void)send(clients[i], request_text, sizeof request_text - 1, MSG_NOSIGNAL);
}

static void turn_until_served(uint64_t requests, int64_t until_ns)
{
    while (server.server_context.counts.requests < requests && uw_clock_ns() < until_ns)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
}

/* Each has been served, and has sent another request. Returns whether so soon that no deadline has come near. */
static bool put_deadlines_off(int listener, int64_t until_ns)
{
    connect_clients(listener, until_ns);
    send_requests();
    turn_until_served(CLIENTS, until_ns); /* from here on the deadline is another than the timer's */
    send_requests();
    return uw_clock_ns() < until_ns;
}

/* From here on this machine may take its time. */
static void be_away(int64_t absence_ns)
{
    struct timespec long_enough = {.tv_sec = absence_ns / UW_NS_PER_SECOND, .tv_nsec = absence_ns % UW_NS_PER_SECOND};

    (void)nanosleep(&long_enough, NULL);
    server.server_context.settings.keep_alive_timeout_ns = LONG_NS;
}

static void check_all_are_served(void)
{
    turn_until_served(2 * CLIENTS, uw_clock_ns() + LONG_NS / 2);
    CHECK_EQUAL(2 * CLIENTS, server.server_context.counts.requests);
    CHECK_EQUAL(0, server.server_context.counts.timeouts);
    CHECK_EQUAL(CLIENTS, uw_server_connections(&server));
}

static void close_all(int listener)
{
    uw_server_close(&server);
    for (int i = 0; i < connected; i++)
        close(clients[i]);
    close(listener);
}

static bool return_after_deadlines(const char *backend, int64_t head_timeout_ns)
{
    int listener = listen_on_loopback();
    bool soon;

    settings.head_timeout_ns = head_timeout_ns;
    settings.keep_alive_timeout_ns = head_timeout_ns + head_timeout_ns / 4;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    soon = put_deadlines_off(listener, uw_clock_ns() + head_timeout_ns / 2);
    if (soon) {
        be_away(head_timeout_ns + head_timeout_ns / 2);
        check_all_are_served();
    }
    close_all(listener);
    return soon;
}

static void go_away_with_deadlines_put_off(const char *backend)
{
    allow_descriptors();
    in_time(return_after_deadlines, backend, HEAD_TIMEOUT_NS);
}

TEST(who_has_sent_in_time_is_served)
{
    on_each_backend(go_away_with_deadlines_put_off);
}

TEST_MAIN
