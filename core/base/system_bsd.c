/* Implements system.h for macOS and FreeBSD: see `man 2 kqueue`, and `man 2 sendfile` of each. */
#if (defined(__APPLE__) || defined(__FreeBSD__)) && !defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"

/* A kqueue is readable when its only event has occurred. */
int uw_process_descriptor(pid_t pid)
{
    struct kevent end;
    int fd = kqueue(), error;

    if (fd < 0)
        return -1;
    EV_SET(&end, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && kevent(fd, &end, 1, NULL, 0, NULL) == 0)
        return fd;
    error = errno; /* ESRCH: the process has exited */
    close(fd);
    errno = error;
    return -1;
}

void uw_process_descriptor_close(int fd, bool forked)
{
    if (!forked) /* a child process does not inherit a kqueue */
        close(fd);
}

/* macOS supports MSG_DONTWAIT only for receiving. It sends SIGPIPE to the whole process unless the socket has
 * F_SETNOSIGPIPE. The application creates some of the sockets, so each send sets the flag. F_SETNOSIGPIPE fails with
 * EINVAL after both ends have shut down. */
#ifdef __APPLE__
#define SEND_FLAGS 0

static bool prepare_to_send(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
        return false;
    if (fcntl(fd, F_SETNOSIGPIPE, 1) == 0)
        return true;
    if (errno == EINVAL)
        errno = EPIPE;
    return false;
}

/* macOS fails with EPROTOTYPE while the peer closes the connection. */
static ssize_t map_send_error(ssize_t count)
{
    if (count < 0 && errno == EPROTOTYPE)
        errno = ECONNRESET;
    return count;
}
#else
#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)

static bool prepare_to_send(int fd)
{
    (void)fd;
    return true;
}

static ssize_t map_send_error(ssize_t count)
{
    return count;
}
#endif

ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more)
{
    (void)more;
    return prepare_to_send(fd) ? map_send_error(send(fd, bytes, length, SEND_FLAGS)) : -1;
}

ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more)
{
    (void)more;
    return prepare_to_send(fd) ? map_send_error(sendmsg(fd, message, SEND_FLAGS)) : -1;
}

#ifdef __APPLE__
static int send_file(int fd, int file, off_t offset, size_t length, off_t *sent)
{
    *sent = (off_t)length;
    return sendfile(file, fd, offset, sent, NULL, 0);
}
#else
static int send_file(int fd, int file, off_t offset, size_t length, off_t *sent)
{
    return sendfile(file, fd, offset, length, NULL, sent, 0);
}
#endif

/* A partial send counts as success, whatever stopped the rest. sendfile(2) would take a length of 0 for the whole file.
 */
ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length)
{
    off_t sent = 0;

    if (length == 0)
        return 0;
    if (!prepare_to_send(fd))
        return -1;
    return map_send_error(send_file(fd, file, offset, length, &sent) && sent == 0 ? -1 : (ssize_t)sent);
}

bool uw_random(void *bytes, size_t length)
{
    arc4random_buf(bytes, length);
    return true;
}

#ifdef __APPLE__
void uw_sigpipe_spare(int fd)
{
    (void)fcntl(fd, F_SETNOSIGPIPE, 1);
}

/* poll(2) reports POLLHUP already when only the peer has shut down, and reports nothing without requested events.
 * getpeername(2) fails once both ends have shut down. */
bool uw_hung_up(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &size) < 0;
}

/* macOS lacks the POSIX realtime signals option. */
void uw_signal_take(int signal)
{
    sigset_t set, pending;

    sigemptyset(&set);
    sigaddset(&set, signal);
    if (sigpending(&pending) == 0 && sigismember(&pending, signal))
        (void)sigwait(&set, &signal);
}

int uw_condition_init(pthread_cond_t *condition)
{
    return pthread_cond_init(condition, NULL);
}

int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - uw_clock_ns();
    struct timespec left = {left_ns / UW_NS_PER_SECOND, left_ns % UW_NS_PER_SECOND};

    return left_ns > 0 ? pthread_cond_timedwait_relative_np(condition, lock, &left) : ETIMEDOUT;
}
#endif

#else
typedef int uw_system_bsd_is_left_out; /* ISO C requires a declaration */
#endif
