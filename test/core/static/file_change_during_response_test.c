/* Files that change and clients that leave while responses are under way. */
#include "http/date.h"
#include "static_server_fixture.h"

#include <poll.h>

#include "retry_when_delayed.h"

#define LARGE_BYTES (64 * 1024 * 1024)
#define PIECE_BYTES 65536

static void write_large(const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && ftruncate(fd, LARGE_BYTES) == 0);
    close(fd);
}

/* Begins to receive, or finds that the server has left; returns the connection. */
static int try_download(const char *target)
{
    char request[128];
    int fd = client_connect();

    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    client_send(fd, request);
    response.length = client_read(fd, response.bytes, PIECE_BYTES);
    take_apart();
    return fd;
}

/* Begins to receive a large file; returns the connection. */
static int begin_download(const char *target)
{
    int fd = try_download(target);

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

    (void)argument;
    for (int i = 0; atomic_load(&replacing); i++) {
        size_t length = 1 + (size_t)(i * 37 % (int)(sizeof text - 1));

        memset(text, 'a' + i % 26, length);
        write_at(folder, "replacement", text, length);
        CHECK_EQUAL(0, renameat(folder, "replacement", folder, "file"));
    }
    return NULL;
}

/* Whatever is sent is the whole of one of the files: one letter throughout. `ask` checks the length. */
SERVED(no_response_mixes_two_files)
{
    int64_t began_ns = uw_clock_ns(), ends_ns = began_ns + UW_NS_PER_SECOND * 3 / 2; /* the cache looks again within */
    char first[64] = "";
    bool changed = false;
    pthread_t thread;

    write_text("file", "a");
    atomic_store(&replacing, true);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, replace_again_and_again, NULL));
    while (uw_clock_ns() < ends_ns || (!changed && uw_clock_ns() < began_ns + PATIENCE_S * UW_NS_PER_SECOND)) {
        CHECK_EQUAL(200, get("/file"));
        CHECK(response.body_length > 0);
        for (size_t i = 1; i < response.body_length; i++)
            if (response.body[i] != response.body[0])
                CHECK(!"two files in one response");
        changed = changed || (first[0] && strcmp(first, header("ETag")) != 0);
        snprintf(first, sizeof first, "%.63s", header("ETag"));
    }
    atomic_store(&replacing, false);
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
    while ((now = open_descriptors()) != kept && uw_clock_ns() < end_ns) {
        CHECK_EQUAL(200, get("/small"));
        CHECK_EQUAL(0, usleep(10000)); /* the server has heard that this one has left, too */
    }
    CHECK_EQUAL(kept, now);
}

static void hurry(void)
{
    serve_write_timeout_ns = UW_NS_PER_SECOND / 2;
    write_large("large");
}

SERVED_WITH(hurry, a_client_that_takes_nothing_is_left)
{
    int64_t end_ns = uw_clock_ns() + PATIENCE_S * UW_NS_PER_SECOND;
    size_t received;
    int fd = try_download("/large");

    CHECK(response.status == 200 || response.length == 0); /* this machine may stand still for longer */
    while (uw_server_connections(&server) && uw_clock_ns() < end_ns)
        CHECK_EQUAL(0, usleep(10000));
    received = response.body_length + drain(fd);
    CHECK(received < LARGE_BYTES);
    close(fd);
}

#define STEPS (LARGE_BYTES / RESPONSE_BYTES_MAX)
#define STEPS_PER_TIMEOUT (STEPS * 2 / 5) /* all take longer than two timeouts */

/* Receives at most so much as a client does that is as steady as it is slow. Returns how much, after `pause_ns`. */
static size_t step(int fd, size_t most, int64_t pause_ns)
{
    size_t length = client_read(fd, response.bytes, most < RESPONSE_BYTES_MAX ? most : RESPONSE_BYTES_MAX);

    CHECK_EQUAL(0, usleep((useconds_t)(pause_ns / UW_NS_PER_US)));
    return length;
}

/* Receives the whole file; or less, and then returns whether this machine made the client be not so steady. */
static bool was_held_up(int64_t begin_ns)
{
    int64_t pause_ns = serve_write_timeout_ns / STEPS_PER_TIMEOUT, longest_ns = 0, end_ns;
    int fd = try_download("/large");
    size_t left = LARGE_BYTES - response.body_length, length = 1;

    for (; left > 0 && length > 0; begin_ns = end_ns) {
        length = step(fd, left, pause_ns);
        left -= length;
        end_ns = uw_clock_ns();
        longest_ns = end_ns - begin_ns > longest_ns ? end_ns - begin_ns : longest_ns;
    }
    close(fd);
    if (left > 0 && longest_ns > 4 * pause_ns)
        return true;
    CHECK_EQUAL(0, left);
    return false;
}

static bool download_steadily(const char *backend, int64_t timeout_ns)
{
    int64_t begin_ns;
    bool held_up;

    (void)backend;
    serve_stop();
    serve_write_timeout_ns = timeout_ns;
    CHECK(serve_start());
    begin_ns = uw_clock_ns();
    held_up = was_held_up(begin_ns);
    CHECK(held_up || uw_clock_ns() - begin_ns > 2 * timeout_ns);
    return !held_up;
}

SERVED_WITH(hurry, a_steady_client_may_take_longer_than_the_timeout)
{
    in_time(download_steadily, backend_name, serve_write_timeout_ns);
}

static int64_t logged[2];

static void answered(void *context, struct uw_request *request)
{
    (void)context;
    logged[0] += request->outcome.status;
    logged[1] += request->outcome.content_bytes;
}

static void configure_log(void)
{
    logged[0] = logged[1] = 0;
    serve_handler = uw_static_handler(&files);
    serve_handler.answered = answered;
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
    chunk->flags = UW_CHUNK_FINISH | (uw_request_keeps_alive(request) ? 0 : UW_CHUNK_CLOSE);
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

/* On a connection that is kept: whether the answer to `GET target` ends with `text`. */
static bool answers(int fd, const char *target, const char *text)
{
    char request[128];
    size_t got = 0, length = strlen(text);
    ssize_t received = 1;

    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    client_send(fd, request);
    do {
        received = recv(fd, response.bytes + got, RESPONSE_BYTES_MAX - got, 0);
        got += received > 0 ? (size_t)received : 0;
        response.bytes[got] = '\0';
    } while (received > 0 && !(strstr(response.bytes, "\r\n\r\n") && got > length &&
                               (memcmp(response.bytes + got - 5, "other", 5) == 0 ||
                                memcmp(response.bytes + got - 7, "content", 7) == 0)));
    return got > length && memcmp(response.bytes + got - length, text, length) == 0;
}

SERVED(an_upload_is_stored_in_place_of_a_file_that_is_only_kept)
{
    static const char head[] = "POST /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2000\r\n\r\n";
    int fd = client_connect(), taken[128], count;

    write_pattern("large", FILE_BYTES_MAX + 1);
    CHECK_EQUAL(200, get("/large"));
    count = take_descriptors(taken, 128);
    client_send(fd, head);
    for (int i = 0; i < 2000; i += 10)
        client_send(fd, "0123456789");
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    take_apart();
    CHECK_EQUAL(405, response.status); /* taken in, rather than refused with 503 */
    give_descriptors_back(taken, count);
    close(fd);
}

/* On `fd`, as the file cannot be opened for want of descriptors. */
static void ask_for_file(int fd)
{
    client_send(fd, "GET /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

static int read_status(int fd)
{
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    take_apart();
    close(fd);
    return response.status;
}

static bool answered_within(int fd, int64_t ns)
{
    return poll(&(struct pollfd){fd, POLLIN, 0}, 1, (int)(ns / 1000000)) > 0;
}

SERVED_WITH(configure_other, a_file_that_cannot_be_opened_is_not_taken_for_absent)
{
    int fd = client_connect(), taken[128], count;

    CHECK(answers(fd, "/missing", "other"));
    count = take_descriptors(taken, 128);
    ask_for_file(fd);
    CHECK_EQUAL(503, read_status(fd));
    give_descriptors_back(taken, count);
    fd = client_connect();
    CHECK(answers(fd, "/file", "content"));
    close(fd);
}

SERVED_WITH(configure_other, who_asks_for_a_file_waits_for_descriptors)
{
    int fds[] = {client_connect(), client_connect(), client_connect()}, taken[128], count;

    CHECK(answers(fds[0], "/missing", "other"));
    CHECK(answers(fds[1], "/missing", "other"));
    CHECK(answers(fds[2], "/missing", "other"));
    count = take_descriptors(taken, 128);
    for (int i = 0; i < 3; i++)
        ask_for_file(fds[i]);
    CHECK(!answered_within(fds[0], 2 * UW_FD_RETRY_PAUSE_NS));
    close(fds[1]); /* this one leaves */
    give_descriptors_back(taken, count);
    CHECK(read_status(fds[0]) == 200 && body_is("content"));
    CHECK(read_status(fds[2]) == 200 && body_is("content"));
}

SERVED(who_comes_when_descriptors_have_run_out_is_accepted_in_place_of_a_file)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), taken[128], count;
    int64_t begin_ns;

    if (getenv("UW_UNDER_VALGRIND")) {
        check_skip_reason = "valgrind closes a client for whom it has no descriptor";
        close(fd);
        return;
    }
    write_pattern("large", FILE_BYTES_MAX + 1);
    CHECK_EQUAL(200, get("/large"));
    count = take_descriptors(taken, 128);
    begin_ns = uw_clock_ns();
    CHECK_EQUAL(0, connect(fd, (struct sockaddr *)&server_address, sizeof server_address));
    client_send(fd, "GET /missing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    CHECK(uw_clock_ns() - begin_ns < PATIENCE_S * UW_NS_PER_SECOND / 2);
    take_apart();
    CHECK(response.status == 404 || response.status == 503);
    give_descriptors_back(taken, count);
    close(fd);
}

/* Asks until the entity tag is a strong one, which is the case soon. Returns a copy. */
static const char *strong_tag(const char *target, char etag[64])
{
    int64_t end_ns = uw_clock_ns() + PATIENCE_S * UW_NS_PER_SECOND;

    do {
        CHECK_EQUAL(200, ask("HEAD", target, ""));
        snprintf(etag, 64, "%.63s", header("ETag"));
    } while (etag[0] != '"' && uw_clock_ns() < end_ns && usleep(50000) == 0);
    CHECK(etag[0] == '"');
    return etag;
}

static void write_large_of(const char *name, char byte)
{
    const struct timespec times[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && ftruncate(fd, LARGE_BYTES) == 0 && pwrite(fd, &byte, 1, LARGE_BYTES / 2) == 1);
    CHECK_EQUAL(0, futimens(fd, times));
    close(fd);
}

SERVED(a_large_file_gets_a_strong_tag_and_another_one_with_one_byte_changed)
{
    char first[64], second[64], headers[256];

    write_large_of("large", 'a');
    write_large_of("same", 'a');
    write_text("small", "served meanwhile");
    strong_tag("/large", first);
    CHECK(strcmp(first, strong_tag("/same", second)) == 0);
    snprintf(headers, sizeof headers, "Range: bytes=0-9\r\nIf-Range: %s\r\n", first);
    CHECK_EQUAL(206, ask("GET", "/large", headers));
    snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", first);
    CHECK_EQUAL(304, ask("GET", "/large", headers));
    write_large_of("large", 'b');
    CHECK_EQUAL(0, usleep(1100000)); /* files are looked at again after a second */
    CHECK_EQUAL(200, ask("HEAD", "/large", headers));
    CHECK(strcmp(first, strong_tag("/large", second)) != 0);
}

/* Waits for the first tenths of a second of the clock. */
static void await_second(void)
{
    struct timespec now;

    do
        (void)usleep(10000);
    while (clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_nsec > 300000000);
}

/* A condition with the date that the client was told; without one it asks for all. */
static const char *told_date(const char *field, char condition[64])
{
    const char *date = header("Last-Modified");

    if (!date)
        return "";
    snprintf(condition, 64, "%.20s: %.32s\r\n", field, date);
    return condition;
}

/* Asks with the date of the file while the file's second is not over: it is made to begin in a minute. */
static void ask_before_the_second_is_over(const char *target)
{
    const time_t modified = time(NULL) + 60;
    const struct timespec times[] = {{.tv_sec = modified}, {.tv_sec = modified}};
    char date[UW_HTTP_DATE_BYTES + 1], headers[128];
    int fd = openat(folder, target + 1, O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0 && futimens(fd, times) == 0);
    close(fd);
    uw_http_date(modified, date);
    snprintf(headers, sizeof headers, "If-Modified-Since: %s\r\n", date);
    CHECK_EQUAL(200, ask("HEAD", target, headers));
    snprintf(headers, sizeof headers, "Range: bytes=0-9\r\nIf-Range: %s\r\n", date);
    CHECK_EQUAL(200, ask("GET", target, headers));
}

SERVED(a_date_counts_for_nothing_before_its_second_is_over)
{
    write_pattern("small", 1000);   /* in memory */
    write_pattern("large", 100000); /* in the file */
    ask_before_the_second_is_over("/small");
    ask_before_the_second_is_over("/large");
}

/* A date has no parts of a second, so two versions could have the same. */
SERVED(no_date_stands_for_two_versions)
{
    const char *targets[] = {"/small", "/large"};
    const size_t lengths[] = {1000, 100000}; /* in memory, and in the file */
    char texts[2][64];
    const char *since[2];

    await_second();
    for (int i = 0; i < 2; i++) {
        write_pattern(targets[i] + 1, lengths[i]);
        CHECK_EQUAL(200, ask("HEAD", targets[i], ""));
        since[i] = told_date("If-Modified-Since", texts[i]);
        write_pattern(targets[i] + 1, lengths[i] - 1);
    }
    CHECK_EQUAL(0, usleep(1200000)); /* the second is over, and files are looked at again after one */
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(200, ask("HEAD", targets[i], since[i]));
        CHECK_EQUAL(304, ask("HEAD", targets[i], told_date("If-Modified-Since", texts[i])));
    }
}

/* The server ends while a file is being read. */
SERVED(a_server_that_ends_waits_for_no_whole_file)
{
    char name[32];

    for (int i = 0; i < UW_CONTENT_HASHES_PENDING_MAX + 2; i++) {
        snprintf(name, sizeof name, "/large%d", i);
        write_large_of(name + 1, (char)i);
    }
    CHECK_EQUAL(0, usleep(200000)); /* no longer young */
    for (int i = 0; i < UW_CONTENT_HASHES_PENDING_MAX + 2; i++) {
        snprintf(name, sizeof name, "/large%d", i);
        CHECK_EQUAL(200, ask("HEAD", name, ""));
    }
}

SERVED_MAIN
