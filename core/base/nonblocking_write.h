/* Writes to a log with a slow or missing reader. The caller never waits and gets no SIGPIPE. */
#ifndef UW_BASE_NONBLOCKING_WRITE_H
#define UW_BASE_NONBLOCKING_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes as many bytes as fit, at the current position. Returns their number or -errno. -EAGAIN: no byte fits. -EPIPE:
 * the pipe has no reader. */
ssize_t uw_nonblocking_write(int fd, const void *bytes, size_t length);

#endif
