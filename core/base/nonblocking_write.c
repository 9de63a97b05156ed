#include "base/nonblocking_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sigpipe.h"
#include "base/system.h"

/* A stream that polls as writable takes PIPE_BUF bytes without blocking, see `man 7 pipe`. This fails only if another
 * process writes at the same time. */
static ssize_t write_if_ready(int fd, const void *bytes, size_t length)
{
    struct pollfd item = {.fd = fd, .events = POLLOUT};

    if (poll(&item, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
}

/* Terminals, and pipes of older kernels, do not support RWF_NOWAIT. A reopened descriptor has its own O_NONBLOCK flag,
 * so other users of the file are not affected. */
static ssize_t write_reopened(int fd, const void *bytes, size_t length)
{
    int reopened = uw_open_anew(fd, O_WRONLY | O_NONBLOCK | O_NOCTTY), error;
    ssize_t count;

    if (reopened < 0)
        return write_if_ready(fd, bytes, length);
    count = write(reopened, bytes, length);
    error = errno;
    close(reopened);
    errno = error;
    return count;
}

static bool is_regular(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
}

/* poll(2) alone does not suffice: another process may fill the buffer first, or only a part may fit. */
static ssize_t write_at_once(int fd, const void *bytes, size_t length)
{
    ssize_t count;

    if (is_regular(fd)) /* a regular file never blocks, and other processes write at its position as well */
        return write(fd, bytes, length);
    count = uw_write_now(fd, bytes, length, -1);
    return count < 0 && errno == EOPNOTSUPP ? write_reopened(fd, bytes, length) : count;
}

ssize_t uw_nonblocking_write(int fd, const void *bytes, size_t length)
{
    bool unblock = uw_sigpipe_block();
    ssize_t count;

    uw_sigpipe_spare(fd);
    do
        count = write_at_once(fd, bytes, length);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        count = -errno;
    if (count == -EPIPE)
        uw_sigpipe_take();
    if (unblock)
        uw_sigpipe_unblock();
    return count;
}
