/* Files that change and clients that leave while responses are under way. */
#include "serve.h"

#define LARGE_BYTES (64 * 1024 * 1024)
#define PIECE_BYTES 65536

static void write_large(const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && ftruncate(fd, LARGE_BYTES) == 0);
    close(fd);
}

/* Begins to receive a large file; returns the connection. */
static int begin_download(const char *target)
{
    char request[128];
    int fd = client_connect();

    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    client_send(fd, request);
    response.length = client_read(fd, response.bytes, PIECE_BYTES);
    take_apart();
    CHECK_EQUAL(200, response.status);
    CHECK(has_header("Content-Length", "67108864"));
    return fd;
}

/* Receives to the end of the connection. Returns the number of bytes. */
static size_t drain(int fd)
{
    static char bytes[PIECE_BYTES];
    size_t sum = 0, length;

    while ((length = client_read(fd, bytes, sizeof bytes)) > 0)
        sum += length;
    return sum;
}

SERVED(a_file_truncated_while_it_is_sent_ends_the_connection)
{
    size_t received;
    int fd;

    write_large("large");
    fd = begin_download("/large");
    write_text("large", "short"); /* in place */
    received = response.body_length + drain(fd);
    CHECK(received >= PIECE_BYTES / 2 && received < LARGE_BYTES);
    close(fd);
    write_text("other", "still there");
    CHECK_EQUAL(200, get("/other"));
}

SERVED(a_file_replaced_while_it_is_sent_is_sent_to_its_end)
{
    size_t left = LARGE_BYTES;
    int fd;

    write_large("large");
    fd = begin_download("/large");
    replace_text("large", "another one");
    left -= response.body_length;
    while (left > 0) {
        size_t length = client_read(fd, response.bytes, left < PIECE_BYTES ? left : PIECE_BYTES);

        CHECK(length > 0);
        if (length == 0)
            break;
        for (size_t i = 0; i < length; i++)
            if (response.bytes[i])
                CHECK(!"a byte of another file");
        left -= length;
    }
    client_send(fd, "GET /missing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); /* the connection is kept */
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    take_apart();
    CHECK_EQUAL(404, response.status);
    close(fd);
}

static atomic_bool replacing;

static void *replace_again_and_again(void *argument)
{
    char text[FILE_BYTES_MAX * 3];
    int64_t end_ns = *(int64_t *)argument;

    for (int i = 0; uw_clock_ns() < end_ns; i++) {
        size_t length = 1 + (size_t)(i * 37 % (int)(sizeof text - 1));

        memset(text, 'a' + i % 26, length);
        write_at(folder, "replacement", text, length);
        CHECK_EQUAL(0, renameat(folder, "replacement", folder, "file"));
    }
    atomic_store(&replacing, false);
    return NULL;
}

/* Whatever is sent is the whole of one of the files: one letter throughout. `ask` checks the length. */
SERVED(no_response_mixes_two_files)
{
    int64_t end_ns = uw_clock_ns() + UW_NS_PER_SECOND * 5 / 2; /* the cache looks again in between */
    char first[64] = "";
    bool changed = false;
    pthread_t thread;

    write_text("file", "a");
    atomic_store(&replacing, true);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, replace_again_and_again, &end_ns));
    while (atomic_load(&replacing)) {
        CHECK_EQUAL(200, get("/file"));
        CHECK(response.body_length > 0);
        for (size_t i = 1; i < response.body_length; i++)
            if (response.body[i] != response.body[0])
                CHECK(!"two files in one response");
        changed = changed || (first[0] && strcmp(first, header("ETag")) != 0);
        snprintf(first, sizeof first, "%.63s", header("ETag"));
    }
    CHECK_EQUAL(0, pthread_join(thread, NULL));
    CHECK(changed);
}

SERVED(clients_that_leave_leave_nothing_behind)
{
    int kept = open_descriptors() + 1, fds[20], now; /* the large file in the cache */
    int64_t end_ns = uw_clock_ns() + PATIENCE_S * UW_NS_PER_SECOND;

    write_large("large");
    write_text("small", "small");
    for (int i = 0; i < 20; i++)
        fds[i] = begin_download("/large");
    for (int i = 0; i < 20; i++)
        close(fds[i]);
    while ((now = open_descriptors()) != kept && uw_clock_ns() < end_ns)
        CHECK_EQUAL(200, get("/small"));
    CHECK_EQUAL(kept, now);
}

static void hurry(void)
{
    serve_write_timeout_ns = UW_NS_PER_SECOND / 2;
    write_large("large");
}

SERVED_WITH(hurry, a_client_that_takes_nothing_is_left)
{
    size_t received;
    int fd = begin_download("/large");

    while (uw_server_connections(&server))
        CHECK_EQUAL(0, usleep(10000));
    received = response.body_length + drain(fd);
    CHECK(received < LARGE_BYTES);
    close(fd);
}

SERVED_WITH(hurry, a_steady_client_may_take_longer_than_the_timeout)
{
    int fd = begin_download("/large");
    int64_t start_ns = uw_clock_ns();
    size_t left = LARGE_BYTES - response.body_length, length = 1;

    while (left > 0 && length > 0) {
        length = client_read(fd, response.bytes, left < RESPONSE_BYTES_MAX ? left : RESPONSE_BYTES_MAX);
        left -= length;
        CHECK_EQUAL(0, usleep(20000)); /* the client's pace */
    }
    CHECK_EQUAL(0, left);
    CHECK(uw_clock_ns() - start_ns > 2 * serve_write_timeout_ns);
    close(fd);
}

static void answered(void *context, const struct uw_response *answer)
{
    int64_t *sums = context;

    sums[0] += answer->status;
    sums[1] += answer->content_bytes;
}

static int64_t logged[2];

static void configure_log(void)
{
    logged[0] = logged[1] = 0;
    serve_settings.answered = answered;
    serve_settings.answered_context = logged;
    write_pattern("file", 5000);
}

SERVED_WITH(configure_log, every_answer_is_told)
{
    static const int expected[] = {200, 200, 206, 404, 204, 304};

    CHECK_EQUAL(expected[0], get("/file"));
    CHECK_EQUAL(expected[1], ask("HEAD", "/file", ""));
    CHECK_EQUAL(expected[2], ask("GET", "/file", "Range: bytes=0-99\r\n"));
    CHECK_EQUAL(expected[3], get("/missing"));
    CHECK_EQUAL(expected[4], ask("OPTIONS", "/file", ""));
    CHECK_EQUAL(expected[5], ask("GET", "/file", "If-None-Match: *\r\n"));
    CHECK_EQUAL(200 + 200 + 206 + 404 + 204 + 304, logged[0]);
    CHECK_EQUAL(5000 + 100 + strlen("404 Not Found\n"), logged[1]);
}

/* A server with other things to answer: what is no file gets a text of its own. */
static void answer_otherwise(void *context, struct uw_request *request, enum uw_event event)
{
    static const char other[] =
        "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n\r\nother";
    struct uw_chunk *chunk;

    if (event != UW_EVENT_REQUEST || uw_static_try(context, request))
        return;
    chunk = uw_chunk_copy(other, sizeof other - 1);
    CHECK(chunk != NULL);
    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_CLOSE;
    uw_request_send(request, chunk);
}

static void configure_other(void)
{
    serve_handler = (struct uw_handler){.context = &files, .notify = answer_otherwise};
    write_text("file", "content");
    make_folder("sub");
}

SERVED_WITH(configure_other, what_is_no_file_is_left_to_others)
{
    CHECK(get("/file") == 200 && body_is("content"));
    CHECK(ask("POST", "/file", "Content-Length: 0\r\n") == 200 && body_is("other"));
    CHECK(get("/sub") == 200 && body_is("other"));
    CHECK(get("/sub/") == 200 && body_is("other"));
    CHECK(get("/missing") == 200 && body_is("other"));
    CHECK(get("/../secret") == 200 && body_is("other"));
}

SERVED_MAIN
