#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>

#include "seccomp_faults.h"
#endif

#include "check.h"

#define PATIENCE_MS 20000

static void close_both(const int ends[2])
{
    CHECK_EQUAL(0, close(ends[0]));
    CHECK_EQUAL(0, close(ends[1]));
}

TEST(a_pair_hangs_up_when_its_other_end_is_closed)
{
    int ends[2];

    CHECK_EQUAL(0, uw_socket_pair(ends));
    CHECK(!uw_hung_up(ends[0]));
    CHECK_EQUAL(0, close(ends[1]));
    CHECK(uw_hung_up(ends[0]));
    CHECK_EQUAL(0, close(ends[0]));
}

TEST(a_pair_hangs_up_when_each_end_has_said_its_last)
{
    int ends[2];

    CHECK_EQUAL(0, uw_socket_pair(ends));
    CHECK_EQUAL(0, shutdown(ends[1], SHUT_WR));
    CHECK(!uw_hung_up(ends[0]));
    CHECK_EQUAL(0, shutdown(ends[0], SHUT_WR));
    CHECK(uw_hung_up(ends[0]));
    close_both(ends);
}

TEST(who_sends_to_nobody_is_told_so)
{
    int ends[2];
    struct iovec bytes = {.iov_base = "x", .iov_len = 1};
    const struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

    CHECK_EQUAL(0, uw_socket_pair(ends));
    CHECK_EQUAL(0, close(ends[1]));
    CHECK(uw_send_now(ends[0], "x", 1, false) < 0 && errno == EPIPE);
    CHECK(uw_send_vector_now(ends[0], &message, false) < 0 && errno == EPIPE);
    CHECK_EQUAL(0, close(ends[0]));
}

/* A stretch, what is left at its end, and what is beyond. */
TEST(a_stretch_of_a_file_is_sent)
{
    char path[] = "/tmp/upwell-system-XXXXXX", read_bytes[8], sent_bytes[8];
    int ends[2], file = mkstemp(path);
    const off_t length = 26;

    CHECK_EQUAL(length, write(file, "abcdefghijklmnopqrstuvwxyz", (size_t)length));
    CHECK_EQUAL(0, uw_socket_pair(ends));
    CHECK_EQUAL(0, uw_send_file_now(ends[0], file, 0, 0));
    CHECK_EQUAL(4, uw_send_file_now(ends[0], file, 1, 4));
    CHECK_EQUAL(2, uw_send_file_now(ends[0], file, length - 2, 4));
    CHECK_EQUAL(0, uw_send_file_now(ends[0], file, length, 4));
    CHECK_EQUAL(4, pread(file, read_bytes, 4, 1));
    CHECK_EQUAL(2, pread(file, read_bytes + 4, 2, length - 2));
    CHECK_EQUAL(6, recv(ends[1], sent_bytes, sizeof sent_bytes, 0));
    CHECK_EQUAL(0, memcmp(read_bytes, sent_bytes, 6));
    close_both(ends);
    CHECK_EQUAL(0, close(file));
    CHECK_EQUAL(0, unlink(path));
}

static bool is_readable(int fd, int milliseconds)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};

    return poll(&item, 1, milliseconds) > 0 && item.revents & POLLIN;
}

TEST(a_process_descriptor_tells_of_the_end)
{
    int ends[2], fd, status;
    pid_t child;

    CHECK_EQUAL(0, uw_socket_pair(ends));
    child = fork();
    if (child == 0)
        _exit(is_readable(ends[1], PATIENCE_MS) ? 7 : 1);
    fd = uw_process_descriptor(child);
    if (fd < 0)
        CHECK_EQUAL(ENOSYS, errno);
    else
        CHECK(!is_readable(fd, 0));
    CHECK_EQUAL(1, write(ends[0], "x", 1));
    CHECK(fd < 0 || is_readable(fd, PATIENCE_MS));
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    close_both(ends);
    if (fd < 0)
        SKIP("there is no such thing");
    uw_process_descriptor_close(fd, false);
}

#ifdef __linux__
/* As qemu's is, and sandboxes' may be. */
TEST(a_kernel_without_the_calls_that_do_not_wait_supports_them_not)
{
    int ends[2], status;
    char byte;
    pid_t child;

    CHECK_EQUAL(0, uw_pipe(ends));
    child = fork();
    if (child == 0) {
        (void)make_calls_fail(SYS_preadv2, SYS_pwritev2, ENOSYS); /* an emulator that cannot be told is one */
        CHECK(uw_write_now(ends[1], "x", 1, -1) < 0 && errno == EOPNOTSUPP);
        CHECK(uw_read_now(ends[0], &byte, 1, -1) < 0 && errno == EOPNOTSUPP);
        _exit(0);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_both(ends);
}
#endif

TEST_MAIN
