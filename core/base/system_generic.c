/* Implements the functions of system.h beyond POSIX, for unknown systems. A port to another system starts from a copy
 * of this file. Tests also use this file on Linux. */
#if !(defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(_WIN32)) || \
    defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system.h"

#define SEND_FILE_BYTES 16384 /* bytes that one call copies through a buffer */

int uw_process_descriptor(pid_t pid)
{
    (void)pid;
    errno = ENOSYS;
    return -1;
}

void uw_process_descriptor_close(int fd, bool forked)
{
    (void)fd, (void)forked;
}

ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more)
{
    (void)more;
    return send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more)
{
    (void)more;
    return sendmsg(fd, message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length)
{
    char bytes[SEND_FILE_BYTES];
    ssize_t count = pread(file, bytes, length < sizeof bytes ? length : sizeof bytes, offset);

    return count > 0 ? uw_send_now(fd, bytes, (size_t)count, false) : count;
}

bool uw_random(void *bytes, size_t length)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : read(fd, bytes, length);

    if (fd >= 0)
        close(fd);
    return count == (ssize_t)length;
}

#else
typedef int uw_system_generic_is_left_out; /* ISO C requires a declaration */
#endif
