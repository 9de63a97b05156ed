/* The end of a connection that nobody here has served yet. A child process that the application has forked may have its
 * descriptor, too: closing alone would end nothing for the client. */
#ifndef UW_IO_HANG_UP_H
#define UW_IO_HANG_UP_H

#include <sys/socket.h>
#include <unistd.h>

static inline void uw_hang_up(int fd)
{
    (void)shutdown(fd, SHUT_RDWR); /* fails when the client has gone */
    close(fd);
}

#endif
