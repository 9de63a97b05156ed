#include "log/refusal_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "check.h"
#include "server/loopback_sockets.h"

#define MANY 1000
#define TURNS_MAX 1000
#define SETTLE_MS 50
#define LONG_NS (60 * UW_NS_PER_SECOND)

static const struct uw_access_record refusal = {
    .remote = "192.0.2.1", .method = {"GET", 3}, .target = {"/x", 2}, .version = UW_HTTP_1_1, .status = 400};

static struct uw_loop loop;
static struct uw_refusal_log refusals;
static char text[65536];

static void open_log(const char *backend, int fd)
{
    CHECK_EQUAL(0, uw_loop_open(&loop, backend, NULL));
    uw_refusal_log_init(&refusals, &loop, fd, UW_LOG_TEXT);
}

static void turn(int64_t wait_ns)
{
    CHECK_EQUAL(0, uw_loop_turn(&loop, wait_ns));
}

/* What has been written to the pipe. */
static int read_lines(int fd)
{
    ssize_t length = read(fd, text, sizeof text - 1);
    int lines = 0;

    text[length > 0 ? length : 0] = '\0';
    for (ssize_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Begun in this turn, it does not end before it is told to, however long this machine takes. */
static void stretch_second(void)
{
    CHECK(refusals.timer.active);
    CHECK_EQUAL(loop.now_ns + UW_NS_PER_SECOND, refusals.timer.deadline_ns);
    uw_timer_start(&loop, &refusals.timer, loop.now_ns + LONG_NS);
}

static void end_second(void)
{
    uw_timer_start(&loop, &refusals.timer, uw_clock_ns());
}

static void a_trouble_is_told_once_a_minute(const char *backend)
{
    int fds[2], lines = 0;

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    CHECK_EQUAL(0, fcntl(fds[0], F_SETFL, O_NONBLOCK));
    open_log(backend, fds[1]);
    uw_refusal_log_trouble(&refusals, UW_SYSTEM_ERROR_CONTENT, "/t\nmp", ENOSPC);
    uw_refusal_log_trouble(&refusals, UW_SYSTEM_ERROR_CONTENT, "/tmp", ENOSPC);
    for (int turns = 0; turns < TURNS_MAX && !lines; turns++) {
        turn(UW_NS_PER_MS);
        lines += read_lines(fds[0]);
    }
    CHECK_EQUAL(1, lines);
    CHECK(strstr(text,
                 "cannot store a request body in /t?mp: No space left on device; the client gets 503; set TMPDIR") !=
          NULL);
    refusals.reported_ns[UW_SYSTEM_ERROR_CONTENT] -= UW_SYSTEM_ERROR_NS;
    uw_refusal_log_trouble(&refusals, UW_SYSTEM_ERROR_CONTENT, "/tmp", EIO);
    for (int turns = 0; turns < TURNS_MAX && lines < 2; turns++) {
        turn(UW_NS_PER_MS);
        lines += read_lines(fds[0]);
    }
    CHECK_EQUAL(2, lines);
    uw_loop_close(&loop);
    close(fds[0]);
    close(fds[1]);
}

static void a_second_of_many(const char *backend)
{
    int fds[2], lines = 0;

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    CHECK_EQUAL(0, fcntl(fds[0], F_SETFL, O_NONBLOCK));
    open_log(backend, fds[1]);
    for (int i = 0; i < MANY; i++)
        uw_refusal_log_add(&refusals, &refusal);
    stretch_second();
    for (int turns = 0; turns < TURNS_MAX && lines < UW_REFUSAL_LINES_PER_SECOND; turns++) {
        turn(UW_NS_PER_MS);
        lines += read_lines(fds[0]);
    }
    CHECK_EQUAL(UW_REFUSAL_LINES_PER_SECOND, lines);
    CHECK(strstr(text, "]: refused 192.0.2.1 \"GET /x\" 400 Bad Request\n") != NULL);
    lines = 0;
    end_second();
    for (int turns = 0; turns < TURNS_MAX && !lines; turns++) {
        turn(UW_NS_PER_SECOND / 10);
        lines = read_lines(fds[0]);
    }
    CHECK(lines == 1 && strstr(text, "]: refused 990 more requests; "));
    uw_loop_close(&loop);
    close(fds[0]);
    close(fds[1]);
}

TEST(there_are_so_many_lines_a_second_and_then_one_that_counts_the_rest)
{
    CHECK_EQUAL(990, MANY - UW_REFUSAL_LINES_PER_SECOND);
    on_each_backend(a_second_of_many);
}

/* A full pipe that nobody reads, in the end with room again. */
static void nobody_reads(const char *backend)
{
    static char zeros[4096];
    struct pollfd room = {.events = POLLOUT};
    int fds[2], flags, lines = 0;

    CHECK_EQUAL(0, pipe2(fds, O_CLOEXEC));
    flags = fcntl(fds[1], F_GETFL);
    CHECK_EQUAL(0, fcntl(fds[1], F_SETFL, flags | O_NONBLOCK));
    room.fd = fds[1];
    while (write(fds[1], zeros, sizeof zeros) > 0 || poll(&room, 1, SETTLE_MS) > 0)
        continue;                                  /* where a pipe is a connection, what was written may move on */
    CHECK_EQUAL(0, fcntl(fds[1], F_SETFL, flags)); /* as standard error is */
    CHECK_EQUAL(0, fcntl(fds[0], F_SETFL, O_NONBLOCK));
    open_log(backend, fds[1]);
    for (int i = 0; i < MANY; i++) {
        uw_refusal_log_add(&refusals, &refusal);
        if (i == 0)
            stretch_second();
        if (i < UW_REFUSAL_LINES_PER_SECOND)
            turn(0);
    }
    CHECK(refusals.suppressed >= MANY - UW_REFUSAL_LINES_PER_SECOND);
    (void)read_lines(fds[0]);
    end_second();
    for (int turns = 0; turns < TURNS_MAX && lines < UW_REFUSAL_LINES_PER_SECOND; turns++) {
        turn(UW_NS_PER_SECOND / 10);
        lines += read_lines(fds[0]);
    }
    CHECK(lines >= UW_REFUSAL_LINES_PER_SECOND);
    uw_loop_close(&loop);
    close(fds[0]);
    close(fds[1]);
}

TEST(where_nobody_reads_nothing_waits)
{
    on_each_backend(nobody_reads);
}

TEST(a_trouble_has_one_line_a_minute)
{
    on_each_backend(a_trouble_is_told_once_a_minute);
}

TEST_MAIN
