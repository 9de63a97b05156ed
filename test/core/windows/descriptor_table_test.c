/* Numbers for what Windows has as handles, which it gives anew as soon as they are closed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"
#include "check.h"
#include "io/backend.h"
#include "open_descriptors.h"
#include "server/loopback_sockets.h"

#define OTHERS 64
#define PATIENCE_NS (20 * UW_NS_PER_SECOND)

/* Its handle may be that of any that was opened since. */
TEST(a_socket_that_listens_no_more_is_no_other)
{
    int listener = listen_on_loopback(), others[OTHERS], client, size = sizeof(struct sockaddr_in);
    struct sockaddr_in address;

    CHECK_EQUAL(0, shutdown(listener, SHUT_RDWR));
    for (int i = 0; i < OTHERS; i++)
        others[i] = listen_on_loopback();
    client = connect_to(others[0]);
    CHECK_EQUAL(-1, getsockname(listener, (struct sockaddr *)&address, &size));
    CHECK_EQUAL(EINVAL, errno);
    for (int i = 0; i < OTHERS; i++)
        CHECK_EQUAL(0, fcntl(others[i], F_SETFL, O_NONBLOCK));
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EINVAL, errno);
    close(client);
    for (int i = 0; i < OTHERS; i++)
        close(others[i]);
    close(listener);
}

/* Who comes while there is no number for him is not turned away. */
TEST(a_client_waits_until_there_is_a_number)
{
    int listener = listen_on_loopback(), client = connect_to(listener), accepted;
    struct rlimit before, low;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    low = before;
    low.rlim_cur = 0;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &low));
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EMFILE, errno);
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
    accepted = uw_accept(listener);
    CHECK(accepted >= 0);
    close(accepted);
    close(client);
    close(listener);
}

TEST(nobody_accepted_leaves_no_number)
{
    int listener = listen_on_loopback(), before;

    CHECK_EQUAL(0, fcntl(listener, F_SETFL, O_NONBLOCK));
    before = open_descriptors();
    CHECK_EQUAL(-1, uw_accept(listener));
    CHECK_EQUAL(EAGAIN, errno);
    CHECK_EQUAL(before, open_descriptors());
    close(listener);
}

static int arrivals, arrived[2];

static void note(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    (void)loop, (void)operation;
    if (arrivals < 2)
        arrived[arrivals] = result;
    arrivals++;
}

static void await_arrivals(struct uw_loop *loop, int count)
{
    int64_t deadline_ns = uw_clock_ns() + PATIENCE_NS;

    while (arrivals < count && uw_clock_ns() < deadline_ns)
        CHECK_EQUAL(0, uw_loop_turn(loop, PATIENCE_NS));
    CHECK_EQUAL(count, arrivals);
}

static int lowest_free(void)
{
    int fd = dup(STDIN_FILENO);

    close(fd);
    return fd;
}

/* Whoever closes numbers that are not his may close that of a client who is yet to come. */
TEST(a_client_takes_no_number_that_stands_for_another_by_now)
{
    int listener = listen_on_loopback(), clients[2], reserved = lowest_free();
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = listener, .complete = note};
    struct sockaddr_in peer;
    struct uw_loop loop;
    socklen_t size = sizeof peer;

    arrivals = 0;
    CHECK_EQUAL(0, uw_loop_open(&loop, "iocp", NULL));
    uw_submit(&loop, &accept);
    CHECK_EQUAL(reserved + 1, lowest_free());
    CHECK_EQUAL(reserved, dup2(listener, reserved));
    for (int i = 0; i < 2; i++) {
        clients[i] = connect_to(listener);
        await_arrivals(&loop, i + 1);
        CHECK(arrived[i] >= 0 && arrived[i] != reserved);
        CHECK_EQUAL(0, getpeername(arrived[i], (struct sockaddr *)&peer, &size));
    }
    CHECK_EQUAL(-1, getpeername(reserved, (struct sockaddr *)&peer, &size));
    for (int i = 0; i < 2; i++) {
        close(arrived[i]);
        close(clients[i]);
    }
    CHECK_EQUAL(0, uw_close(&loop, listener));
    uw_loop_close(&loop);
    close(reserved);
}

/* The number is another's then, and not to be closed. */
TEST(who_waits_for_a_client_no_more_closes_his_number_alone)
{
    int listener = listen_on_loopback(), reserved = lowest_free();
    struct uw_operation accept = {.opcode = UW_ACCEPT, .fd = listener, .complete = note};
    struct uw_loop loop;

    CHECK_EQUAL(0, uw_loop_open(&loop, "iocp", NULL));
    uw_submit(&loop, &accept);
    CHECK_EQUAL(reserved, dup2(STDIN_FILENO, reserved));
    uw_loop_close(&loop);
    CHECK_EQUAL(0, close(reserved));
    close(listener);
}

TEST_MAIN
