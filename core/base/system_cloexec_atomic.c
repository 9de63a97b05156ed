/* Implements system.h where one call creates a close-on-exec descriptor. A concurrent fork and exec cannot leak the
 * descriptor. */
#if (defined(__linux__) || defined(__FreeBSD__) || defined(_WIN32)) && !defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system.h"

int uw_accept(int fd)
{
    return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int uw_stream_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int uw_socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) ? -errno : 0;
}

int uw_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? -errno : 0;
}

int uw_replace(int from, int fd)
{
    return dup3(from, fd, O_CLOEXEC);
}

#else
typedef int uw_system_cloexec_atomic_is_left_out; /* ISO C requires a declaration */
#endif
