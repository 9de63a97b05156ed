/* Implements system.h by POSIX for all systems but Linux and Windows. Tests also use this file on Linux, with
 * system_generic.c. */
#if !(defined(__linux__) || defined(_WIN32)) || defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/system.h"

#define CLEAR_BYTES 64
#define TERMINAL_NAME_BYTES 128 /* as long as on macOS */

#ifdef O_PATH /* FreeBSD has O_PATH, too */
const int uw_open_to_look = O_PATH;
#else
const int uw_open_to_look = O_RDONLY | O_NONBLOCK;
#endif

static int fail_with(int error)
{
    errno = error;
    return -1;
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
    int ends[2], error = uw_pipe(ends);

    *wakeup = error ? UW_NO_WAKEUP : (struct uw_wakeup){.fd = ends[0], .tell_fd = ends[1]};
    return error;
}

void uw_wakeup_close(const struct uw_wakeup *wakeup)
{
    if (wakeup->fd < 0)
        return;
    close(wakeup->fd);
    close(wakeup->tell_fd);
}

void uw_wakeup_tell(const struct uw_wakeup *wakeup)
{
    int saved_errno = errno;
    ssize_t written = write(wakeup->tell_fd, "", 1);

    (void)written; /* EAGAIN: the pipe is full, and `fd` is readable already */
    errno = saved_errno;
}

void uw_wakeup_clear(const struct uw_wakeup *wakeup)
{
    char discarded[CLEAR_BYTES];

    while (read(wakeup->fd, discarded, sizeof discarded) == sizeof discarded)
        ;
}

/* FreeBSD's SO_REUSEPORT gives all connections to the newest socket. */
#ifndef SO_REUSEPORT_LB
#define SO_REUSEPORT_LB SO_REUSEPORT
#endif

const bool uw_ports_are_shared = true;

int uw_share_port(int fd)
{
    static const int on = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT_LB, &on, sizeof on);
}

/* On most of these systems /dev/fd gives a duplicate, which shares its flags and position. Only a terminal has another
 * known path. */
int uw_open_anew(int fd, int flags)
{
    char path[TERMINAL_NAME_BYTES];
    int error = ttyname_r(fd, path, sizeof path);

    return error ? fail_with(error == ENOTTY ? ENOSYS : error) : open(path, flags | O_CLOEXEC);
}

int uw_open_unnamed(const char *folder)
{
    (void)folder;
    return -EOPNOTSUPP;
}

#else
typedef int uw_system_posix_nonlinux_is_left_out; /* ISO C requires a declaration */
#endif
