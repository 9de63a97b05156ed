/* Ends a connection that is not served yet. A child process of the application may share its descriptor, so close(2)
 * alone might not end the connection. */
#ifndef UW_IO_SHUTDOWN_AND_CLOSE_H
#define UW_IO_SHUTDOWN_AND_CLOSE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void uw_shutdown_and_close(int fd)
{
    (void)shutdown(fd, SHUT_RDWR); /* fails after the client has disconnected */
    close(fd);
}

/* Returns whether the client has stopped sending. Without POLLRDHUP this shows only after all bytes have been read. */
static inline bool uw_has_hung_up(int fd)
{
#ifdef POLLRDHUP
    struct pollfd item = {.fd = fd, .events = POLLRDHUP};

    return poll(&item, 1, 0) == 1;
#else
    char byte;

    return recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}

#endif
