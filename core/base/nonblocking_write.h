/* Writes to a log whose reader may be slow or gone. The caller never waits and gets no SIGPIPE. */
#ifndef UW_BASE_NONBLOCKING_WRITE_H
#define UW_BASE_NONBLOCKING_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes at the current position as many bytes as fit. Returns their number or -errno. -EAGAIN: nothing fits. -EPIPE:
 * the pipe has no reader. */
ssize_t uw_nonblocking_write(int fd, const void *bytes, size_t length);

#endif
