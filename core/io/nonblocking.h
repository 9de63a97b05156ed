/* Descriptors that do not wait. */
#ifndef UW_IO_NONBLOCKING_H
#define UW_IO_NONBLOCKING_H

#include <errno.h>
#include <fcntl.h>

#include "base/system.h"

static inline void uw_set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && !(flags & O_NONBLOCK))
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Accepts a client of a listening socket that other processes may share: one of them may accept the client first, or
 * make the socket blocking. Returns a descriptor or -errno. */
static inline int uw_accept_now(int fd)
{
    int accepted;

    uw_set_nonblocking(fd);
    accepted = uw_accept(fd);
    return accepted < 0 ? -errno : accepted;
}

#endif
