/* Implements system.h where several calls create a close-on-exec descriptor. A concurrent fork and exec may leak the
 * descriptor. */
#if !(defined(__linux__) || defined(__FreeBSD__) || defined(_WIN32)) || defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system.h"

static int set_flags(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int set_flags_of_pair(int ends[2])
{
    int error = set_flags(ends[0]);

    if (!error)
        error = set_flags(ends[1]);
    if (error) {
        close(ends[0]);
        close(ends[1]);
    }
    return error;
}

/* Closes the socket if its flags cannot be set. */
static int set_flags_or_close(int fd)
{
    int error = fd < 0 ? 0 : set_flags(fd);

    if (!error)
        return fd;
    close(fd);
    errno = -error;
    return -1;
}

int uw_accept(int fd)
{
    return set_flags_or_close(accept(fd, NULL, NULL));
}

int uw_stream_socket(int family)
{
    return set_flags_or_close(socket(family, SOCK_STREAM, 0));
}

int uw_socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? -errno : set_flags_of_pair(ends);
}

int uw_pipe(int ends[2])
{
    return pipe(ends) ? -errno : set_flags_of_pair(ends);
}

int uw_replace(int from, int fd)
{
    return dup2(from, fd) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : fd;
}

#else
typedef int uw_system_cloexec_fcntl_is_left_out; /* ISO C requires a declaration */
#endif
