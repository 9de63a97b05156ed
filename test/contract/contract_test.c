/* The contract of the backends: every test runs on each one that is compiled in, and first makes sure that this one is
 * in use. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "io/backend.h"

#define TURNS_MAX 100000
#define BIG_BYTES (8 * 1024 * 1024)
#define PAIRS 1000
#define POSTERS 4
#define POSTS 10000

static struct uw_loop loop;
static int results, last_result, total;
static int accepted_fds[PAIRS];

static void on_expire(struct uw_loop *on, struct uw_timer *timer)
{
    (void)on;
    (void)timer;
    results++;
}

static bool open_loop(const char *name)
{
    int error = uw_loop_open(&loop, name, on_expire);

    results = last_result = total = 0;
    if (error) {
        printf("skipped %s: %s\n", name, strerror(-error));
        return false;
    }
    CHECK(strcmp(loop.backend->name, name) == 0);
    return true;
}

static bool usable(const char *name)
{
    /* valgrind 3.19 cannot follow what the kernel writes for io_uring. */
    return !(getenv("UW_UNDER_VALGRIND") && strcmp(name, "io_uring") == 0);
}

/* A test of this name on every backend. */
#define CONTRACT(test_name) \
    static void test_name##_contract(void); \
    TEST(test_name) \
    { \
        for (size_t i = 0; uw_backends[i]; i++) { \
            if (!usable(uw_backends[i]->name)) { \
                check_skip_reason = "io_uring cannot be followed by valgrind; the other backends ran"; \
                continue; \
            } \
            if (open_loop(uw_backends[i]->name)) { \
                test_name##_contract(); \
                uw_loop_close(&loop); \
            } \
        } \
    } \
    static void test_name##_contract(void)

static void note(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    (void)on;
    (void)operation;
    results++;
    last_result = result;
    if (result > 0)
        total += result;
}

static void turn_until(const int *value, int least)
{
    for (int i = 0; i < TURNS_MAX && *value < least; i++)
        if (uw_loop_turn(&loop, UW_NS_PER_SECOND))
            break;
    CHECK(*value >= least);
}

static void pair(int fds[2])
{
    CHECK_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static int listener(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *address;

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)address, size) == 0 && listen(fd, PAIRS) == 0);
    CHECK_EQUAL(0, getsockname(fd, (struct sockaddr *)address, &size));
    return fd;
}

static void on_accept(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    (void)on;
    CHECK(result >= 0 || !operation->pending);
    if (result >= 0)
        accepted_fds[results++] = result;
    last_result = result;
}

CONTRACT(accepts_many_until_cancelled)
{
    struct sockaddr_in address;
    int fd = listener(&address), clients[100];
    struct uw_operation accept = {.verb = UW_ACCEPT, .fd = fd, .complete = on_accept};

    uw_submit(&loop, &accept);
    for (int i = 0; i < 100; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM, 0);
        CHECK_EQUAL(0, connect(clients[i], (struct sockaddr *)&address, sizeof address));
    }
    turn_until(&results, 100);
    CHECK(accept.pending);
    for (int i = 0; i < 100; i++) {
        CHECK(fcntl(accepted_fds[i], F_GETFD) & FD_CLOEXEC);
        CHECK_EQUAL(0, uw_close(&loop, accepted_fds[i]));
        close(clients[i]);
    }
    uw_cancel(&loop, &accept);
    for (int i = 0; i < 10 && accept.pending; i++)
        uw_loop_turn(&loop, UW_NS_PER_SECOND);
    CHECK_EQUAL(-ECANCELED, last_result);
    uw_close(&loop, fd);
}

CONTRACT(receives_until_the_end)
{
    int fds[2];
    struct uw_operation receive = {.verb = UW_RECEIVE, .complete = note};

    pair(fds);
    receive.fd = fds[0];
    uw_submit(&loop, &receive);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQUAL(5, write(fds[1], "hello", 5));
        turn_until(&total, 5 * i);
        CHECK(receive.pending);
        CHECK(memcmp(receive.data, "hello", 5) == 0);
    }
    close(fds[1]);
    turn_until(&results, 4);
    CHECK_EQUAL(0, last_result);
    CHECK(!receive.pending);
    uw_close(&loop, fds[0]);
}

CONTRACT(receiving_can_be_paused)
{
    int fds[2];
    struct uw_operation receive = {.verb = UW_RECEIVE, .complete = note};

    pair(fds);
    receive.fd = fds[0];
    uw_submit(&loop, &receive);
    uw_cancel(&loop, &receive);
    turn_until(&results, 1);
    CHECK_EQUAL(-ECANCELED, last_result);
    CHECK_EQUAL(2, write(fds[1], "ab", 2));
    uw_loop_turn(&loop, 0);
    CHECK_EQUAL(1, results);
    uw_submit(&loop, &receive);
    turn_until(&total, 2);
    uw_cancel(&loop, &receive);
    turn_until(&results, 3);
    close(fds[1]);
    uw_close(&loop, fds[0]);
}

static void *read_slowly(void *argument)
{
    static char buffer[65536];
    int fd = *(int *)argument;
    long sum = 0;
    ssize_t count;

    while (sum < BIG_BYTES && (count = read(fd, buffer, sizeof buffer)) > 0)
        sum += count;
    return (void *)sum;
}

CONTRACT(sends_all_to_a_slow_reader)
{
    int fds[2];
    char *bytes = calloc(1, BIG_BYTES);
    struct uw_operation send = {.verb = UW_SEND, .complete = note, .data = bytes, .length = BIG_BYTES};
    pthread_t reader;
    void *sum;

    pair(fds);
    send.fd = fds[0];
    uw_submit(&loop, &send);
    CHECK_EQUAL(0, pthread_create(&reader, NULL, read_slowly, &fds[1]));
    turn_until(&results, 1);
    CHECK_EQUAL(BIG_BYTES, last_result);
    CHECK_EQUAL(0, pthread_join(reader, &sum));
    CHECK_EQUAL(BIG_BYTES, (long)sum);
    free(bytes);
    close(fds[1]);
    uw_close(&loop, fds[0]);
}

CONTRACT(sending_to_nobody_is_an_error_and_no_signal)
{
    int fds[2];
    struct uw_operation send = {.verb = UW_SEND, .complete = note, .data = "x", .length = 1};

    pair(fds);
    send.fd = fds[0];
    close(fds[1]);
    uw_submit(&loop, &send);
    turn_until(&results, 1);
    CHECK_EQUAL(-EPIPE, last_result);
    uw_close(&loop, fds[0]);
}

CONTRACT(reads_and_writes_files_and_pipes)
{
    char path[] = "/tmp/upwell-contract-XXXXXX", buffer[8] = "";
    int fd = mkstemp(path), fds[2];
    struct uw_operation write_file = {.verb = UW_WRITE, .fd = fd, .complete = note, .data = "abcdef", .length = 6};
    struct uw_operation read_file = {
        .verb = UW_READ, .fd = fd, .complete = note, .data = buffer, .length = 3, .offset = 2};
    struct uw_operation read_pipe = {.verb = UW_READ, .complete = note, .data = buffer, .length = 8, .offset = -1};

    CHECK(fd >= 0 && unlink(path) == 0 && pipe(fds) == 0);
    uw_submit(&loop, &write_file);
    turn_until(&results, 1);
    CHECK_EQUAL(6, last_result);
    uw_submit(&loop, &read_file);
    turn_until(&results, 2);
    CHECK(last_result == 3 && memcmp(buffer, "cde", 3) == 0);
    read_pipe.fd = fds[0];
    uw_submit(&loop, &read_pipe);
    uw_loop_turn(&loop, 0);
    CHECK_EQUAL(2, results); /* nothing there yet, and nobody blocked */
    CHECK_EQUAL(2, write(fds[1], "xy", 2));
    turn_until(&results, 3);
    CHECK(last_result == 2 && memcmp(buffer, "xy", 2) == 0);
    close(fds[1]);
    uw_close(&loop, fds[0]);
    uw_close(&loop, fd);
}

CONTRACT(polls)
{
    int fds[2];
    struct uw_operation in = {.verb = UW_POLL, .complete = note, .length = POLLIN};
    struct uw_operation out = {.verb = UW_POLL, .complete = note, .length = POLLOUT};

    pair(fds);
    in.fd = out.fd = fds[0];
    uw_submit(&loop, &in);
    uw_submit(&loop, &out);
    turn_until(&results, 1);
    CHECK_EQUAL(POLLOUT, last_result);
    CHECK(in.pending && !out.pending);
    CHECK_EQUAL(1, write(fds[1], "x", 1));
    turn_until(&results, 2);
    CHECK(last_result & POLLIN);
    close(fds[1]);
    uw_close(&loop, fds[0]);
}

CONTRACT(connects_or_is_refused)
{
    struct sockaddr_in address;
    int server = listener(&address), fd = socket(AF_INET, SOCK_STREAM, 0);
    struct uw_operation connect = {
        .verb = UW_CONNECT, .fd = fd, .complete = note, .data = &address, .length = sizeof address};

    uw_submit(&loop, &connect);
    turn_until(&results, 1);
    CHECK_EQUAL(0, last_result);
    uw_close(&loop, fd);
    close(server);
    connect.fd = socket(AF_INET, SOCK_STREAM, 0);
    uw_submit(&loop, &connect);
    turn_until(&results, 2);
    CHECK_EQUAL(-ECONNREFUSED, last_result);
    uw_close(&loop, connect.fd);
}

CONTRACT(timers_come_in_order_and_not_early)
{
    struct uw_timer timers[3] = {0};
    int64_t begin = uw_clock_ns();

    for (int i = 0; i < 3; i++)
        uw_timer_start(&loop, &timers[i], begin + (3 - i) * 60 * UW_NS_PER_MS);
    turn_until(&results, 1);
    CHECK(!timers[2].active && timers[0].active);
    turn_until(&results, 3);
    CHECK(uw_clock_ns() - begin >= 180 * UW_NS_PER_MS);
}

static void *wake(void *argument)
{
    (void)argument;
    uw_loop_wake(&loop);
    return NULL;
}

CONTRACT(another_thread_wakes_a_wait)
{
    pthread_t thread;

    for (int i = 0; i < 10; i++) {
        CHECK_EQUAL(0, pthread_create(&thread, NULL, wake, NULL));
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_FOREVER)); /* or this never returns */
        CHECK_EQUAL(0, pthread_join(thread, NULL));
    }
}

static struct uw_message messages[POSTERS][POSTS];
static int received[POSTERS];

static void on_message(struct uw_loop *on, struct uw_message *message)
{
    int poster = (int)((message - &messages[0][0]) / POSTS);

    (void)on;
    CHECK(message == &messages[poster][received[poster]]); /* in order */
    received[poster]++;
    total++;
}

static void *post_all(void *argument)
{
    struct uw_message *mine = argument;

    for (int i = 0; i < POSTS; i++) {
        mine[i].receive = on_message;
        uw_loop_post(&loop, &mine[i]);
    }
    return NULL;
}

CONTRACT(no_posted_message_is_lost)
{
    pthread_t threads[POSTERS];

    memset(received, 0, sizeof received);
    for (int i = 0; i < POSTERS; i++)
        CHECK_EQUAL(0, pthread_create(&threads[i], NULL, post_all, messages[i]));
    turn_until(&total, POSTERS * POSTS);
    for (int i = 0; i < POSTERS; i++)
        CHECK_EQUAL(0, pthread_join(threads[i], NULL));
    CHECK_EQUAL(POSTERS * POSTS, total);
}

/* More operations at once than the submission queue holds, each on a descriptor of its own. */
CONTRACT(a_thousand_pairs_at_once)
{
    static int fds[PAIRS][2];
    static struct uw_operation receives[PAIRS], sends[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        pair(fds[i]);
        receives[i] = (struct uw_operation){.verb = UW_RECEIVE, .fd = fds[i][0], .complete = note};
        sends[i] =
            (struct uw_operation){.verb = UW_SEND, .fd = fds[i][1], .complete = note, .data = "ping", .length = 4};
        uw_submit(&loop, &receives[i]);
        uw_submit(&loop, &sends[i]);
    }
    turn_until(&total, PAIRS * 8);
    for (int i = 0; i < PAIRS; i++)
        uw_cancel(&loop, &receives[i]);
    turn_until(&results, PAIRS * 3);
    for (int i = 0; i < PAIRS; i++) {
        CHECK(!receives[i].pending && !sends[i].pending);
        uw_close(&loop, fds[i][0]);
        uw_close(&loop, fds[i][1]);
    }
}

CONTRACT(a_number_is_used_again)
{
    struct uw_operation receive = {.verb = UW_RECEIVE, .complete = note};

    for (int i = 0; i < 20; i++) {
        int fds[2];

        pair(fds);
        receive.fd = fds[0];
        results = 0;
        uw_submit(&loop, &receive);
        CHECK_EQUAL(1, write(fds[1], "x", 1));
        turn_until(&results, 1);
        CHECK_EQUAL(1, last_result);
        close(fds[1]);
        turn_until(&results, 2);
        uw_close(&loop, fds[0]);
    }
}

CONTRACT(closing_with_operations_pending)
{
    int fds[2];
    struct uw_operation receive = {.verb = UW_RECEIVE, .complete = note};

    pair(fds);
    receive.fd = fds[0];
    uw_submit(&loop, &receive);
    uw_loop_turn(&loop, 0);
    close(fds[0]);
    close(fds[1]);
}

TEST(there_is_a_backend)
{
    CHECK(uw_backends[0] != NULL); /* or every test above has tested nothing */
}

TEST(an_unknown_backend_is_refused)
{
    CHECK_EQUAL(-ENOENT, uw_loop_open(&loop, "kqueue", on_expire));
}

TEST_MAIN
