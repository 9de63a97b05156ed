/* How much of a response has not been sent yet: of a file, too, that is on its way. */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "loopback_sockets.h"
#include "server/server.h"

#define TURNS_MAX 2000
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define LONG_NS (60 * UW_NS_PER_SECOND)
#define FILE_BYTES (16 * 1024 * 1024) /* more than the kernel keeps */
#define TAKEN_BYTES (FILE_BYTES / 2)

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};
static const char request_text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

static struct uw_server server;
static struct uw_request *request;

static void notify(void *context, struct uw_request *brought, enum uw_event event)
{
    (void)context, (void)event;
    request = brought;
}

static void send_file(void)
{
    struct uw_chunk *chunk = uw_chunk_new(0);
    int fd = memfd_create("file", MFD_CLOEXEC);

    CHECK(chunk != NULL);
    CHECK_EQUAL(0, ftruncate(fd, FILE_BYTES));
    uw_chunk_add_file(chunk, fd, 0, FILE_BYTES);
    uw_request_send(request, chunk);
}

/* At most `most` bytes, in a turn. */
static size_t take(int client, size_t most)
{
    static char bytes[64 * 1024];
    ssize_t count = recv(client, bytes, most < sizeof bytes ? most : sizeof bytes, MSG_DONTWAIT);

    CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    return count > 0 ? (size_t)count : 0;
}

static size_t take_up_to(int client, size_t taken, size_t most)
{
    for (int i = 0; i < TURNS_MAX && taken < most; i++)
        taken += take(client, most - taken);
    return taken;
}

static void finish(void)
{
    struct uw_chunk *chunk = uw_chunk_new(0);

    CHECK(chunk != NULL);
    chunk->flags = UW_CHUNK_FINISH;
    uw_request_send(request, chunk);
}

static void client_takes_half(const char *backend)
{
    int listener = listen_on_loopback(), client;
    size_t taken;

    request = NULL;
    CHECK_EQUAL(0, uw_server_open(&server, &uw_composition, &settings, backend, (struct uw_handler){.notify = notify}));
    CHECK_EQUAL(0, uw_server_listen(&server, listener));
    client = connect_to(listener);
    CHECK_EQUAL(sizeof request_text - 1, send(client, request_text, sizeof request_text - 1, 0));
    for (int i = 0; i < TURNS_MAX && !request; i++)
        CHECK_EQUAL(0, uw_server_turn(&server, TURN_NS));
    send_file();
    CHECK_EQUAL(FILE_BYTES, uw_request_outgoing(request));
    taken = take_up_to(client, 0, TAKEN_BYTES);
    CHECK_EQUAL(TAKEN_BYTES, taken);
    CHECK(uw_request_outgoing(request) > 0 && uw_request_outgoing(request) <= FILE_BYTES - taken);
    CHECK_EQUAL(FILE_BYTES, take_up_to(client, taken, FILE_BYTES));
    CHECK_EQUAL(0, uw_request_outgoing(request));
    finish();
    uw_server_close(&server);
    close(client);
    close(listener);
}

TEST(what_is_sent_of_a_file_is_no_longer_outgoing)
{
    on_each_backend(client_takes_half);
}

TEST_MAIN
