#if defined(__linux__) && !defined(UW_PORTABLE_SYSTEM)

#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

const int uw_open_to_look = O_PATH;

uint64_t uw_thread_id(void)
{
    return (uint64_t)gettid();
}

int uw_processors_allowed(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    online = sysconf(
        /* sched_getaffinity(2) fails if the machine has more processors than the set has bits. */
        _SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int uw_process_descriptor(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void uw_process_descriptor_close(int fd, bool forked)
{
    (void)forked;
    close(fd);
}

int uw_wakeup_open(struct uw_wakeup *wakeup)
{
    wakeup->fd = wakeup->tell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wakeup->fd < 0 ? -errno : 0;
}

void uw_wakeup_close(const struct uw_wakeup *wakeup)
{
    if (wakeup->fd >= 0)
        close(wakeup->fd);
}

void uw_wakeup_tell(const struct uw_wakeup *wakeup)
{
    int saved_errno = errno;

    (void)eventfd_write(wakeup->tell_fd, 1); /* EAGAIN: the counter is full, and `fd` is readable already */
    errno = saved_errno;
}

void uw_wakeup_clear(const struct uw_wakeup *wakeup)
{
    eventfd_t count;

    (void)eventfd_read(wakeup->fd, &count); /* EAGAIN: the counter is 0 already */
}

const bool uw_ports_are_shared = true;

int uw_share_port(int fd)
{
    static const int on = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
}

static int send_flags(bool more)
{
    return MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
}

ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more)
{
    return send(fd, bytes, length, send_flags(more));
}

ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more)
{
    return sendmsg(fd, message, send_flags(more));
}

ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length)
{
    off_t from = offset;

    return sendfile(fd, file, &from, length);
}

/* musl has preadv2 and pwritev2 only since 1.2.5. The system call takes the offset as two longs. An emulator such as
 * qemu or a sandbox may lack these calls. */
static ssize_t transfer_now(long call, int fd, const struct iovec *part, int64_t offset)
{
    ssize_t count = syscall(call, fd, part, 1UL, (long)offset, (long)(offset >> 32), RWF_NOWAIT);

    if (count < 0 && errno == ENOSYS)
        errno = EOPNOTSUPP;
    return count;
}

ssize_t uw_read_now(int fd, void *bytes, size_t length, int64_t offset)
{
    struct iovec part = {bytes, length};

    return transfer_now(SYS_preadv2, fd, &part, offset);
}

ssize_t uw_write_now(int fd, const void *bytes, size_t length, int64_t offset)
{
    struct iovec part = {(void *)(uintptr_t)bytes, length};

    return transfer_now(SYS_pwritev2, fd, &part, offset);
}

int uw_open_anew(int fd, int flags)
{
    char path[sizeof "/proc/self/fd/" + 3 * sizeof fd];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

int uw_open_unnamed(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    return errno == EISDIR || errno == EINVAL ? -EOPNOTSUPP : -errno;
}

#ifdef SYS_openat2
#define OPEN_TRIES 10 /* EAGAIN: a concurrent rename could have led the path outside of `root` */

int uw_open_beneath_at_once(int root, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;

    for (int i = 0; i < OPEN_TRIES; i++) {
        fd = syscall(SYS_openat2, root, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd < 0 ? -errno : (int)fd;
}
#else
int uw_open_beneath_at_once(int root, const char *path, int flags)
{
    (void)root, (void)path, (void)flags;
    return -ENOSYS;
}
#endif

const void *uw_memory_last(const void *bytes, int byte, size_t length)
{
    return memrchr(bytes, byte, length);
}

bool uw_random(void *bytes, size_t length)
{
    return getrandom(bytes, length, GRND_NONBLOCK) == (ssize_t)length;
}

#else
typedef int uw_system_linux_is_left_out; /* ISO C requires a declaration */
#endif
