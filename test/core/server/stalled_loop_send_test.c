/* A client that takes what there is for it is not slow when the loop's thread was away. */
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "loopback_sockets.h"
#include "retry_when_delayed.h"
#include "server/connection.h"
#include "server/server.h"

#define TURNS_LITTLE 30
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#ifdef _WIN32
#define WRITE_TIMEOUT_NS (6 * UW_NS_PER_SECOND) /* Wine takes its time */
#else
#define WRITE_TIMEOUT_NS UW_NS_PER_SECOND
#endif
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define ANSWER_BYTES (16 * 1024 * 1024) /* more than the kernel keeps */

static struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
};
static const char request_text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
static char answer[ANSWER_BYTES];

static struct uw_server server;

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_chunk *chunk;

    (void)context;
    if (event != UW_EVENT_REQUEST)
        return;
    chunk = uw_chunk_copy(answer, sizeof answer);
    CHECK(chunk != NULL);
    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static int connect_slowly(int listener)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), buffer = 4096;

    CHECK_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer));
    connect_socket(fd, listener);
    return fd;
}

static void be_away(void)
{
    int64_t absence_ns = settings.write_timeout_ns + 2 * UW_LATE_LOOP_NS;
    struct timespec long_enough = {.tv_sec = absence_ns / UW_NS_PER_SECOND, .tv_nsec = absence_ns % UW_NS_PER_SECOND};

    (void)nanosleep(&long_enough, NULL);
}

/* Takes a part of what is there, so that there is room in the kernel, but not for all that is left to send. */
static void take_some(int client)
{
    static char bytes[1024];

    for (int i = 0; i < 8; i++)
        (void)recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
}

static void turn_a_little(void)
{
    for (int i = 0; i < TURNS_LITTLE; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
}

/* Returns whether so soon that its deadline has not come near. */
static bool take_too_much(int client)
{
    int64_t until_ns = uw_clock_ns() + settings.write_timeout_ns / 2;

    CHECK_EQUAL(sizeof request_text - 1, send(client, request_text, sizeof request_text - 1, 0));
    while (server.server_context.counts.requests == 0 && uw_clock_ns() < until_ns)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    turn_a_little(); /* until the kernel takes no more */
    return uw_clock_ns() < until_ns;
}

/* Who comes back looks, and lets it go on. Returns whether the deadline that is given anew has not come near. */
static bool come_back_once(int client)
{
    int64_t until_ns;
    bool soon;

    be_away();
    until_ns = uw_clock_ns() + settings.write_timeout_ns / 2;
    take_some(client);
    turn_a_little();
    soon = uw_clock_ns() < until_ns;
    CHECK(!soon || server.server_context.counts.timeouts == 0);
    return soon;
}

/* But not for ever, whether it is late again or not. */
static void come_back_again(void)
{
    int64_t until_ns = uw_clock_ns() + LONG_NS;

    be_away();
    while (uw_server_connections(&server) && uw_clock_ns() < until_ns)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    CHECK_EQUAL(1, server.server_context.counts.timeouts);
}

static bool be_away_twice(const char *backend, int64_t write_timeout_ns)
{
    int listener = listen_on_loopback(), client;
    bool soon;

    settings.write_timeout_ns = write_timeout_ns;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_slowly(listener);
    soon = take_too_much(client) && come_back_once(client);
    if (soon)
        come_back_again();
    uw_server_close(&server);
    close(client);
    close(listener);
    return soon;
}

static void go_away_while_an_answer_is_sent(const char *backend)
{
    in_time(be_away_twice, backend, WRITE_TIMEOUT_NS);
}

TEST(a_deadline_that_passed_while_the_loop_was_away_is_given_anew_once)
{
    on_each_backend(go_away_while_an_answer_is_sent);
}

TEST_MAIN
