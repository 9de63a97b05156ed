/* Implements system.h for Windows. The directory windows/ implements the POSIX functions that Windows lacks. */
#ifdef _WIN32

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "base/clock.h"
#include "base/system.h"
#include "windows/files.h"

#define CLEAR_BYTES 64
#define SEND_FILE_BYTES 16384 /* bytes that one call copies through a buffer */

const int uw_open_to_look = O_PATH;

static int fail_with(int error)
{
    errno = error;
    return -1;
}

uint64_t uw_thread_id(void)
{
    return (uint64_t)GetCurrentProcessId() << 32 | GetCurrentThreadId();
}

int uw_processors_allowed(void)
{
    DWORD_PTR ours, all;
    int count = GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) ? __builtin_popcountll(ours) : 0;

    return count > 0 ? count : 1;
}

int uw_process_descriptor(pid_t pid)
{
    (void)pid;
    return fail_with(ENOSYS);
}

void uw_process_descriptor_close(int fd, bool forked)
{
    (void)fd, (void)forked;
}

void uw_signal_take(int signal)
{
    (void)signal;
}

/* The condition variables of winpthreads cannot wait by the monotonic clock. */
int uw_condition_init(pthread_cond_t *condition)
{
    return pthread_cond_init(condition, NULL);
}

int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - uw_clock_ns(), until_ns;
    struct timespec until;

    if (left_ns <= 0)
        return ETIMEDOUT;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until_ns = until.tv_nsec + left_ns;
    until.tv_sec += until_ns / UW_NS_PER_SECOND;
    until.tv_nsec = (long)(until_ns % UW_NS_PER_SECOND);
    return pthread_cond_timedwait(condition, lock, &until);
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

    (void)send(wakeup->tell_fd, "", 1, MSG_DONTWAIT); /* EAGAIN: the socket is full, and `fd` is readable already */
    errno = saved_errno;
}

void uw_wakeup_clear(const struct uw_wakeup *wakeup)
{
    char discarded[CLEAR_BYTES];

    while (recv(wakeup->fd, discarded, sizeof discarded, MSG_DONTWAIT) == sizeof discarded)
        ;
}

ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more)
{
    (void)more;
    return send(fd, bytes, length, MSG_DONTWAIT);
}

ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more)
{
    (void)more;
    return sendmsg(fd, message, MSG_DONTWAIT);
}

/* The backend iocp uses TransmitFile instead. */
ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length)
{
    char bytes[SEND_FILE_BYTES];
    ssize_t count = pread(file, bytes, length < sizeof bytes ? length : sizeof bytes, offset);

    return count > 0 ? uw_send_now(fd, bytes, (size_t)count, false) : count;
}

const bool uw_ports_are_shared = false;

/* A second bind(2) to the same address fails with EADDRINUSE. */
int uw_share_port(int fd)
{
    (void)fd;
    return 0;
}

int uw_open_anew(int fd, int flags)
{
    (void)fd, (void)flags;
    return fail_with(ENOSYS);
}

int uw_open_unnamed(const char *folder)
{
    return uw_file_open_unnamed(folder, true);
}

/* advapi32 exports this function. The header that declares it conflicts with other headers. */
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

bool uw_random(void *bytes, size_t length)
{
    return SystemFunction036(bytes, (ULONG)length);
}

#else
typedef int uw_system_windows_is_left_out; /* ISO C requires a declaration */
#endif
