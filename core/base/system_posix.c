/* What every system but Linux has as POSIX has it. Slower, and without what there is no way to have. Tests use it on
 * Linux, with system_bare.c. */
#if !(defined(__linux__) || defined(_WIN32)) || defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/system.h"

#define CLEAR_BYTES 64
#define TERMINAL_NAME_BYTES 128 /* of macOS */

#ifdef O_PATH /* not only Linux has it */
const int uw_open_to_look = O_PATH;
#else
const int uw_open_to_look = O_RDONLY | O_NONBLOCK;
#endif

static int lacking(int error)
{
    errno = error;
    return -1;
}

/* Of descriptors that are new: until then a child process that is created meanwhile has them, too. */
static int set_flags(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static void close_ends(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static int set_flags_of_ends(int ends[2])
{
    int error = set_flags(ends[0]);

    if (!error)
        error = set_flags(ends[1]);
    if (error)
        close_ends(ends);
    return error;
}

uint64_t uw_thread_id(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned number;

    if (!number)
        number = atomic_fetch_add(&threads, 1) + 1;
    return (uint64_t)getpid() << 32 | number;
}

int uw_processors_allowed(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (int)online : 1;
}

int uw_wakeup_open(struct uw_wakeup *wakeup)
{
    int ends[2], error = pipe(ends) ? -errno : set_flags_of_ends(ends);

    *wakeup = error ? UW_NO_WAKEUP : (struct uw_wakeup){.fd = ends[0], .tell_fd = ends[1]};
    return error;
}

void uw_wakeup_close(const struct uw_wakeup *wakeup)
{
    if (wakeup->fd >= 0)
        close_ends((const int[]){wakeup->fd, wakeup->tell_fd});
}

void uw_wakeup_tell(const struct uw_wakeup *wakeup)
{
    int saved_errno = errno;
    ssize_t written = write(wakeup->tell_fd, "", 1);

    (void)written; /* a full pipe is readable */
    errno = saved_errno;
}

void uw_wakeup_clear(const struct uw_wakeup *wakeup)
{
    char told[CLEAR_BYTES];

    while (read(wakeup->fd, told, sizeof told) == sizeof told)
        ;
}

/* Closes the socket where it cannot be made so. */
static int with_flags(int fd)
{
    int error = fd < 0 ? 0 : set_flags(fd);

    if (!error)
        return fd;
    close(fd);
    return lacking(-error);
}

int uw_accept(int fd)
{
    return with_flags(accept(fd, NULL, NULL));
}

int uw_stream_socket(int family)
{
    return with_flags(socket(family, SOCK_STREAM, 0));
}

int uw_socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? -errno : set_flags_of_ends(ends);
}

#ifndef SO_REUSEPORT_LB /* FreeBSD's; there the other has the one that came last get all */
#define SO_REUSEPORT_LB SO_REUSEPORT
#endif

int uw_share_port(int fd)
{
    static const int on = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT_LB, &on, sizeof on);
}

/* What is opened by /dev/fd shares its state on most of them; and only a terminal has another name that is known. */
int uw_open_anew(int fd, int flags)
{
    char path[TERMINAL_NAME_BYTES];
    int error = ttyname_r(fd, path, sizeof path);

    return error ? lacking(error == ENOTTY ? ENOSYS : error) : open(path, flags | O_CLOEXEC);
}

int uw_replace(int from, int fd)
{
    return dup2(from, fd) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : fd;
}

int uw_open_unnamed(const char *folder)
{
    (void)folder;
    return -EOPNOTSUPP;
}

#else
typedef int uw_system_posix_is_left_out; /* ISO C wants a declaration */
#endif
