/* Counts the descriptors that the process may still open. */
#ifndef UW_BASE_FD_LIMIT_H
#define UW_BASE_FD_LIMIT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#define UW_FD_LIMIT_SPARE 4    /* caches leave 1/4 of the descriptors free */
#define UW_FD_LIMIT_RESERVE 16 /* the last 1/16 of the descriptors is reserved for files and the application */

/* Returns 0 if the limit is unknown. */
static inline rlim_t uw_fd_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_cur;
}

/* Returns true if few descriptors above `fd` are free. The kernel assigns the lowest free descriptor. */
static inline bool uw_fd_limit_is_near(int fd)
{
    rlim_t most = uw_fd_limit();

    return (rlim_t)fd >= most - most / UW_FD_LIMIT_SPARE;
}

/* Returns how many reserved descriptors the clients use, if `fd` is the descriptor of the newest client. */
static inline size_t uw_fd_limit_reserve_used(int fd)
{
    rlim_t most = uw_fd_limit(), end = most - most / UW_FD_LIMIT_RESERVE;

    return (rlim_t)fd < end || most == 0 ? 0 : (size_t)((rlim_t)fd - end + 1);
}

/* Returns the lowest free descriptor, or -1 without a free descriptor. `fd` is any open descriptor. */
static inline int uw_fd_next(int fd)
{
    int next = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (next >= 0)
        (void)close(next);
    return next;
}

/* Returns true if `error`, an -errno, means that the process or the machine has no free descriptor. */
static inline bool uw_fd_limit_reached(int error)
{
    return error == -EMFILE || error == -ENFILE;
}

#endif
