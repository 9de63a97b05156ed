/* The contract of the backends: CONTRACT(name) { ... } as often as wanted, then CONTRACT_MAIN. Every contract runs on
 * each backend that is compiled in, on a loop that really has this backend, and must leave no descriptor open. */
#ifndef UW_TEST_BACKEND_CONTRACT_H
#define UW_TEST_BACKEND_CONTRACT_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "io/backend.h"
#include "open_descriptors.h"

/* Far more than anything here takes: whoever waits that long waits for something that was lost. */
#ifdef _WIN32 /* Wine takes its time */
#define PATIENCE_NS (120 * UW_NS_PER_SECOND)
#else
#define PATIENCE_NS (20 * UW_NS_PER_SECOND)
#endif

static struct uw_loop loop;
static const char *backend_name;

/* What `note` and `expired` were told. */
static int results, last_result, total;

static bool multishot(const struct uw_operation *operation)
{
    return operation->opcode == UW_ACCEPT || operation->opcode == UW_RECEIVE || operation->opcode == UW_WATCH;
}

static void note(struct uw_loop *on, struct uw_operation *operation, int32_t result)
{
    CHECK(on == &loop);
    CHECK(operation->pending == (result > 0 && multishot(operation)));
    results++;
    last_result = result;
    if (result > 0)
        total += result;
}

static void expired(struct uw_loop *on, struct uw_timer *timer)
{
    CHECK(on == &loop && !timer->active);
    results++;
}

/* Only io_uring may be missing: in an old kernel, or forbidden. valgrind 3.19 cannot follow what it writes. */
static bool open_loop(void)
{
    bool may_miss = strncmp(backend_name, "io_uring", 8) == 0;
    int error;

    if (may_miss && getenv("UW_UNDER_VALGRIND")) {
        check_skip_reason = "not under valgrind";
        return false;
    }
    error = uw_loop_open(&loop, backend_name, expired);
    if (error && may_miss)
        check_skip_reason = strerror(-error);
    else
        CHECK_EQUAL(0, error);
    if (!error)
        CHECK(strcmp(loop.backend->name, backend_name) == 0);
    results = last_result = total = 0;
    return !error;
}

#define CONTRACT(contract_name) \
    static void contract_name##_holds(void); \
    TEST(contract_name) \
    { \
        int descriptors = open_descriptors(); \
        if (!open_loop()) \
            return; \
        contract_name##_holds(); \
        uw_loop_close(&loop); \
        CHECK_EQUAL(descriptors, open_descriptors()); \
    } \
    static void contract_name##_holds(void)

#define CONTRACT_MAIN \
    int main(int argc, char **argv) \
    { \
        return contract_main(check_program(argv[0]), argc > 1 ? argv[1] : NULL); \
    }

static inline int contract_main(const char *program, const char *filter)
{
    const char *only = getenv("UPWELL_TEST_BACKEND");
    int status = 0, wanted = 0;

    CHECK(uw_backends[0] != NULL);
    for (size_t i = 0; uw_backends[i]; i++) {
        char name[128];

        backend_name = uw_backends[i]->name;
        if (only && strcmp(only, backend_name) != 0)
            continue;
        wanted++;
        snprintf(name, sizeof name, "%s(%s)", program, backend_name);
        status |= check_main(name, filter);
    }
    if (only && !wanted)
        printf("UPWELL_TEST_BACKEND: %s is not compiled in\n", only);
    return wanted ? status : EXIT_FAILURE;
}

/* Turns the loop until `value` is at least `least`. */
static inline void turn_until(const int *value, int least)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;
    int error = 0;

    while (*value < least && !error && uw_clock_ns() < deadline_ns)
        error = uw_loop_turn(&loop, PATIENCE_NS);
    CHECK_EQUAL(0, error);
    CHECK(*value >= least);
}

/* Submits `operation` and turns until it has ended; returns its last result. */
static inline int run(struct uw_operation *operation)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;

    operation->complete = note;
    uw_submit(&loop, operation);
    while (operation->pending && uw_clock_ns() < deadline_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(!operation->pending);
    return last_result;
}

/* Cancels `operation` and turns until it has ended; returns its last result. */
static inline int cancel(struct uw_operation *operation)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;

    uw_cancel(&loop, operation);
    CHECK(operation->pending); /* told later, never from within */
    while (operation->pending && uw_clock_ns() < deadline_ns)
        CHECK_EQUAL(0, uw_loop_turn(&loop, PATIENCE_NS));
    CHECK(!operation->pending);
    return last_result;
}

/* Submits `operation` and makes sure that it waits, without anybody blocking. */
static inline void run_into_waiting(struct uw_operation *operation)
{
    int before = results;

    operation->complete = note;
    uw_submit(&loop, operation);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK(operation->pending);
    CHECK_EQUAL(before, results);
}

static inline void set_nonblocking(int fd)
{
    CHECK_EQUAL(0, fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

#ifdef _WIN32
#define FILL_ROUNDS 3 /* there a pair is a connection, which moves bytes on, and so makes room, after it took none */
#else
#define FILL_ROUNDS 1
#endif
#define MOVING_US 250000

/* Does `put`, which must not wait, until it fails for good. */
#define FILL(put) \
    for (int fill = 0; fill < FILL_ROUNDS && (fill == 0 || usleep(MOVING_US) == 0); fill++) \
        while ((put) > 0) \
    continue

static inline void make_pair(int fds[2])
{
    CHECK_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static inline void close_pair(int fds[2])
{
    CHECK_EQUAL(0, uw_close(&loop, fds[0]));
    CHECK_EQUAL(0, uw_close(&loop, fds[1]));
}

/* A listening socket on a free port of the loopback interface, or on that of `address`. */
static inline int listen_at(struct sockaddr_in *address, int backlog)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *address;

    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)address, size));
    CHECK_EQUAL(0, listen(fd, backlog));
    CHECK_EQUAL(0, getsockname(fd, (struct sockaddr *)address, &size));
    return fd;
}

static inline int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(0, connect(fd, (const struct sockaddr *)address, sizeof *address));
    return fd;
}

/* Closes a connection by a reset. */
static inline void reset(int fd)
{
    static const struct linger at_once = {.l_onoff = 1};

    CHECK_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
    CHECK_EQUAL(0, close(fd));
}

#endif
