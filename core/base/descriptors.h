/* How many descriptors the process may still open. */
#ifndef UW_BASE_DESCRIPTORS_H
#define UW_BASE_DESCRIPTORS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#define UW_DESCRIPTORS_SPARE 4 /* one in so many is not for what can be closed again */
#define UW_DESCRIPTORS_LAST 16 /* one in so many is not for clients */

/* 0 if that is not known. */
static inline rlim_t uw_descriptors_max(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_cur;
}

/* Descriptors are given from the lowest on: whether those above `fd` are few. */
static inline bool uw_descriptors_are_short(int fd)
{
    rlim_t most = uw_descriptors_max();

    return (rlim_t)fd >= most - most / UW_DESCRIPTORS_SPARE;
}

/* Likewise, of those that are not for clients: how many clients have taken, when `fd` is the last one's. */
static inline size_t uw_descriptors_missing(int fd)
{
    rlim_t most = uw_descriptors_max(), end = most - most / UW_DESCRIPTORS_LAST;

    return (rlim_t)fd < end || most == 0 ? 0 : (size_t)((rlim_t)fd - end + 1);
}

/* The number that the next one is given, or -1 when there is none. `fd` is any that is open. */
static inline int uw_descriptors_next(int fd)
{
    int next = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (next >= 0)
        (void)close(next);
    return next;
}

/* Whether that is what an -errno tells: of the process, or of the machine. */
static inline bool uw_descriptors_ran_out(int error)
{
    return error == -EMFILE || error == -ENFILE;
}

#endif
