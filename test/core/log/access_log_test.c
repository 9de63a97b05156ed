#include "log/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "http1/parser.h"
#include "server/access_record.h"
#include "server/connection.h"

#define READ_SLOWLY_BYTES 512
#define READ_SLOWLY_MS 20
#define SLOW_READS 150 /* for longer than closing waits */

#define HEAD "GET /file HTTP/1.1\r\nHost: a\r\nReferer: b\r\nUser-Agent: c\r\n\r\n"
#define LINE_REST "\"GET /file HTTP/1.1\" 200 5 \"b\" \"c\"\n"

#define SETTLE_MS 50

static const struct uw_http_limits limits = {8192, 4096, UW_HTTP_HEADERS_INLINE};
static struct uw_connection connection = {.remote = "192.0.2.1"};
static struct uw_stream stream = {.connection = &connection};
static struct uw_request request;

static struct uw_request *make_request(void)
{
    request.stream = &stream;
    request.outcome = (struct uw_outcome){.status = 200, .content_bytes = 5};
    request.bytes = request.inline_bytes;
    memcpy(request.bytes, HEAD, sizeof HEAD - 1);
    uw_http_head_init(&request.head, &limits);
    CHECK_EQUAL(sizeof HEAD - 1, uw_http_parse(&request.head, request.bytes, sizeof HEAD - 1));
    return &request;
}

static void add(struct uw_access_log *log, const struct uw_request *answered)
{
    struct uw_access_record access = uw_access_record(answered);

    uw_access_log_add(log, &access);
}

static int temporary_file(void)
{
    char path[] = "/tmp/access_log_test.XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    CHECK_EQUAL(0, unlink(path));
    return fd;
}

/* Counts lines, and checks that each is whole. */
static int read_lines(FILE *file)
{
    char line[UW_LOG_LINE_BYTES_MAX + 1];
    int lines = 0;

    for (; fgets(line, sizeof line, file); lines++) {
        const char *rest = strstr(line, "] ");

        CHECK(strncmp(line, "192.0.2.1 - - [", 15) == 0 && rest && strcmp(rest + 2, LINE_REST) == 0);
    }
    return lines;
}

static void *read_slowly(void *argument)
{
    char bytes[READ_SLOWLY_BYTES];

    for (int reads = 0; read(*(int *)argument, bytes, sizeof bytes) > 0; reads++)
        CHECK(poll(NULL, 0, reads < SLOW_READS ? READ_SLOWLY_MS : 0) == 0);
    return NULL;
}

/* The reader always makes progress, but would need minutes. The log's thread, which may still write then, does not
 * write to a file that takes the number of the log's descriptor. */
TEST(a_slow_reader_does_not_delay_the_close)
{
    enum { LINES = 20000 };
    int ends[2], others[2];
    struct uw_access_log *log;
    pthread_t reader;
    int64_t began_ns;

    CHECK_EQUAL(0, pipe(ends));
    CHECK_EQUAL(0, pthread_create(&reader, NULL, read_slowly, &ends[0]));
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_COMBINED));
    for (int i = 0; i < LINES; i++)
        add(log, make_request());
    began_ns = uw_clock_ns();
    CHECK(uw_access_log_close(log) > 0);
    CHECK(uw_clock_ns() - began_ns < 20 * UW_ACCESS_LOG_CLOSE_MS * UW_NS_PER_MS);
    CHECK_EQUAL(0, pipe(others));
    CHECK_EQUAL(ends[1], dup2(others[1], ends[1]));
    CHECK_EQUAL(0, pthread_join(reader, NULL)); /* the end of input: the log's thread has closed its descriptor, too */
    CHECK_EQUAL(0, poll(&(struct pollfd){others[0], POLLIN, 0}, 1, 0));
    close(ends[1]);
    close(others[0]);
    close(others[1]);
    close(ends[0]);
}

TEST(what_is_added_is_in_the_file_once_closed)
{
    int fd = temporary_file();
    struct uw_access_log *log;
    FILE *file;

    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    for (int i = 0; i < 10; i++)
        add(log, make_request());
    CHECK_EQUAL(0, uw_access_log_close(log));
    file = fdopen(fd, "r");
    rewind(file);
    CHECK_EQUAL(10, read_lines(file));
    fclose(file);
}

/* Many times the ring, so that it is wrapped around at every place of a line. */
TEST(every_line_is_either_whole_in_the_file_or_counted_as_lost)
{
    enum { LINES = 200000 };
    int fd = temporary_file(), lost;
    struct uw_access_log *log;
    FILE *file;

    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    make_request();
    for (int i = 0; i < LINES; i++)
        add(log, &request);
    lost = (int)uw_access_log_close(log);
    file = fdopen(fd, "r");
    rewind(file);
    CHECK_EQUAL(LINES, read_lines(file) + lost);
    CHECK(lost < LINES);
    fclose(file);
}

TEST(a_line_does_not_wait_for_others)
{
    int ends[2];
    char text[UW_LOG_LINE_BYTES_MAX];
    struct uw_access_log *log;

    CHECK_EQUAL(0, pipe(ends));
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_JSON));
    add(log, make_request());
    CHECK(read(ends[0], text, sizeof text) > 0); /* ends since the line comes by itself */
    CHECK(strncmp(text, "{\"time\":\"", 9) == 0);
    CHECK_EQUAL(0, uw_access_log_close(log));
    close(ends[0]);
    close(ends[1]);
}

TEST(a_pipe_that_nobody_reads_delays_nobody)
{
    enum { LINES = 20000 };
    int ends[2], lost;
    struct uw_access_log *log;
    FILE *file;

    CHECK_EQUAL(0, pipe(ends));
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_COMBINED));
    make_request();
    for (int i = 0; i < LINES; i++)
        add(log, &request);
    lost = (int)uw_access_log_close(log);
    CHECK(lost > 0);
    close(ends[1]);
    file = fdopen(ends[0], "r");
    CHECK_EQUAL(LINES, read_lines(file) + lost);
    fclose(file);
}

/* Where a pipe is a connection, what was written may move on. */
static void fill(int fd)
{
    char text[4096] = {0};
    struct pollfd room = {.fd = fd, .events = POLLOUT};

    CHECK_EQUAL(0, fcntl(fd, F_SETFL, O_NONBLOCK));
    while (write(fd, text, sizeof text) > 0 || poll(&room, 1, SETTLE_MS) > 0)
        continue;
    CHECK_EQUAL(0, fcntl(fd, F_SETFL, 0));
}

static void add_long_line(struct uw_access_log *log)
{
    char target[UW_ACCESS_TARGET_BYTES_MAX];
    struct uw_access_record access = uw_access_record(make_request());

    memset(target, 'x', sizeof target);
    access.target = (struct uw_access_text){target, sizeof target};
    uw_access_log_add(log, &access);
}

TEST(long_lines_leave_space_for_short_ones)
{
    enum { LONG = 2 * UW_ACCESS_LOG_BYTES / UW_ACCESS_TARGET_BYTES_MAX, SHORT = 1000 };
    int ends[2];
    uint64_t lost;
    struct uw_access_log *log;

    CHECK_EQUAL(0, pipe(ends));
    fill(ends[1]);
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_COMBINED));
    for (int i = 0; i < LONG; i++)
        add_long_line(log);
    lost = atomic_load(&log->lost);
    CHECK(lost > 0);
    for (int i = 0; i < SHORT; i++)
        add(log, make_request());
    CHECK_EQUAL(lost, atomic_load(&log->lost));
    close(ends[0]); /* no reader: closing need not wait */
    CHECK(uw_access_log_close(log) >= lost + SHORT);
    close(ends[1]);
}

TEST(the_lines_are_in_the_file_before_a_process_exits_at_once)
{
    int fd = temporary_file();
    struct uw_access_log *log, *other;
    FILE *file;

    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    CHECK_EQUAL(0, uw_access_log_open(&other, fd, UW_ACCESS_COMBINED));
    add(log, make_request());
    add(other, make_request());
    uw_access_log_write_before_exit();
    file = fdopen(fd, "r");
    rewind(file);
    CHECK_EQUAL(2, read_lines(file));
    CHECK_EQUAL(0, uw_access_log_close(log));
    CHECK_EQUAL(0, uw_access_log_close(other));
    fclose(file);
}

TEST(a_pipe_that_nobody_reads_does_not_delay_the_exit)
{
    int ends[2];
    struct uw_access_log *log;
    int64_t began_ns;

    CHECK_EQUAL(0, pipe(ends));
    fill(ends[1]);
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_COMBINED));
    add(log, make_request());
    began_ns = uw_clock_ns();
    uw_access_log_write_before_exit();
    CHECK(uw_clock_ns() - began_ns >= UW_ACCESS_LOG_EXIT_MS * UW_NS_PER_MS);
    CHECK(uw_clock_ns() - began_ns < 20 * UW_ACCESS_LOG_EXIT_MS * UW_NS_PER_MS);
    CHECK_EQUAL(1, uw_access_log_close(log));
    close(ends[0]);
    close(ends[1]);
}

/* It polls as writable as long as there is any room, and a write of more waits for the rest. */
TEST(a_terminal_that_nobody_reads_is_given_up)
{
    enum { LINES = 5000 };
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
    struct uw_access_log *log;

    CHECK(master >= 0);
    CHECK_EQUAL(0, grantpt(master));
    CHECK_EQUAL(0, unlockpt(master));
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    CHECK(slave >= 0);
    CHECK_EQUAL(0, uw_access_log_open(&log, slave, UW_ACCESS_COMBINED));
    make_request();
    for (int i = 0; i < LINES; i++)
        add(log, &request);
    CHECK(uw_access_log_close(log) > 0);
    close(slave);
    close(master);
}

TEST(a_file_in_whose_place_is_a_pipe_that_nobody_reads_is_given_up)
{
    int fd = temporary_file(), ends[2];
    struct uw_access_log *log;

    CHECK_EQUAL(0, pipe(ends));
    fill(ends[1]);
    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    CHECK(dup2(ends[1], fd) == fd);
    add(log, make_request());
    CHECK_EQUAL(1, uw_access_log_close(log));
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_pipe_without_a_reader_is_no_signal)
{
    int ends[2];
    struct uw_access_log *log;

    CHECK_EQUAL(0, pipe(ends));
    close(ends[0]);
    CHECK_EQUAL(0, uw_access_log_open(&log, ends[1], UW_ACCESS_COMBINED));
    add(log, make_request());
    CHECK_EQUAL(1, uw_access_log_close(log));
    close(ends[1]);
}

/* Adds lines until the file takes no more, which ends within one. Returns the former limit. */
static struct rlimit tear(struct uw_access_log *log)
{
    struct rlimit limit, low;

    CHECK_EQUAL(0, getrlimit(RLIMIT_FSIZE, &limit));
    low = (struct rlimit){.rlim_cur = sizeof LINE_REST, .rlim_max = limit.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, &low));
    signal(SIGXFSZ, SIG_IGN);
    add(log, make_request());
    while (!atomic_load(&log->lost))
        sched_yield();
    return limit;
}

/* As after a rotation: the rest of the line is missing in another file. */
static void check_next_file(int next, struct uw_access_log *log, const struct rlimit *limit)
{
    FILE *file;

    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, limit));
    add(log, make_request());
    CHECK_EQUAL(1, uw_access_log_close(log));
    file = fdopen(next, "r");
    rewind(file);
    CHECK_EQUAL(1, read_lines(file));
    fclose(file);
}

TEST(a_new_file_does_not_begin_with_the_end_of_another_ones_line)
{
    int fd = temporary_file(), next = temporary_file();
    struct uw_access_log *log;
    struct rlimit limit;

    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    limit = tear(log);
    CHECK(dup2(next, fd) == fd);
    check_next_file(next, log, &limit);
    close(fd);
}

TEST(nor_does_a_file_that_was_emptied)
{
    int fd = temporary_file();
    struct uw_access_log *log;
    struct rlimit limit;

    CHECK_EQUAL(0, fcntl(fd, F_SETFL, O_APPEND));
    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    limit = tear(log);
    CHECK_EQUAL(0, ftruncate(fd, 0));
    check_next_file(fd, log, &limit);
}

/* On a full disk a batch is written in part. */
TEST(only_lines_that_are_not_whole_in_the_file_are_lost_and_none_is_glued_to_another)
{
    enum { LINES = 100, WRITTEN = 40 };
    struct rlimit limit, low;
    char line[UW_LOG_LINE_BYTES_MAX + 1];
    struct uw_access_log *log;
    int fd = temporary_file(), whole = 0;
    FILE *file = fdopen(fd, "r+");
    size_t length;

    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    add(log, make_request());
    CHECK_EQUAL(0, uw_access_log_close(log));
    rewind(file);
    CHECK(fgets(line, sizeof line, file) != NULL);
    length = strlen(line);
    CHECK_EQUAL(0, ftruncate(fd, 0));
    CHECK_EQUAL(0, lseek(fd, 0, SEEK_SET));

    CHECK_EQUAL(0, getrlimit(RLIMIT_FSIZE, &limit));
    low = (struct rlimit){.rlim_cur = WRITTEN * length + length / 2, .rlim_max = limit.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, &low));
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    for (int i = 0; i < LINES; i++)
        add(log, make_request());
    while (!atomic_load(&log->lost))
        sched_yield();
    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, &limit)); /* there is room again */
    add(log, make_request());
    CHECK_EQUAL(LINES - WRITTEN, uw_access_log_close(log));
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, LINE_REST);

        CHECK(strncmp(line, "192.0.2.1 - - [", 15) == 0 && strlen(line) <= length);
        whole += rest && rest + strlen(LINE_REST) == line + strlen(line);
    }
    CHECK_EQUAL(WRITTEN + 1, whole);
    fclose(file);
}

TEST(why_lines_are_lost_is_told_once)
{
    struct uw_access_log *log;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), error = 0;

    CHECK(fd >= 0);
    CHECK_EQUAL(0, uw_access_log_open(&log, fd, UW_ACCESS_COMBINED));
    CHECK_EQUAL(0, uw_access_log_take_error(log));
    add(log, make_request());
    for (int i = 0; !error && i < 100; i++) {
        (void)poll(NULL, 0, SETTLE_MS);
        error = uw_access_log_take_error(log);
    }
    CHECK_EQUAL(-ENOSPC, error);
    CHECK_EQUAL(0, uw_access_log_take_error(log));
    CHECK_EQUAL(1, uw_access_log_close(log));
    close(fd);
}

TEST(a_closed_descriptor_is_refused)
{
    struct uw_access_log *log;

    CHECK_EQUAL(-EBADF, uw_access_log_open(&log, -1, UW_ACCESS_COMBINED));
}

TEST_MAIN
