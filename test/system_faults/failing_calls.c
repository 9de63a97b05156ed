/* Calls that fail as a hostile system's do, put before the C library's: each as long as the folder UPWELL_FAILING has a
 * file of its name with the error's number (for clock_gettime: the seconds that the clock is set back). Each failure
 * adds a byte to NAME.failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static int control(const char *name, const char *suffix, int flags)
{
    const char *folder = getenv("UPWELL_FAILING");
    char path[4096];

    if (!folder || snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix) >= (int)sizeof path)
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644);
}

/* 0 when there is no such file. */
static long number_of(const char *name)
{
    char text[32] = "";
    int error = errno, fd = control(name, "", O_RDONLY);

    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0)
            text[0] = '\0';
        close(fd);
    }
    errno = error;
    return strtol(text, NULL, 10);
}

static int fails(const char *name)
{
    long number = number_of(name);
    int fd;

    if (number == 0)
        return 0;
    fd = control(name, ".failed", O_WRONLY | O_CREAT | O_APPEND);
    if (fd >= 0) {
        if (write(fd, "x", 1) < 0)
            perror("failing");
        close(fd);
    }
    errno = (int)number;
    return 1;
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    return fails("accept4") ? -1 : NEXT(accept4)(fd, address, length, flags);
}

int pipe(int fds[2])
{
    return fails("pipe") ? -1 : NEXT(pipe)(fds);
}

int pipe2(int fds[2], int flags)
{
    return fails("pipe") ? -1 : NEXT(pipe2)(fds, flags);
}

/* Pipes of two directions. */
int socketpair(int domain, int type, int protocol, int fds[2])
{
    return fails("pipe") ? -1 : NEXT(socketpair)(domain, type, protocol, fds);
}

pid_t fork(void)
{
    return fails("fork") ? -1 : NEXT(fork)();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return fails("pthread_create") ? errno : NEXT(pthread_create)(thread, attributes, run, argument);
}

/* Those of the server's own log and process number alone: Ruby opens much else. */
int open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;

    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return strstr(path, "/kept/") && fails("open") ? -1 : NEXT(open)(path, flags, mode);
}

static int real(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = NEXT(clock_gettime)(clock, now);

    if (result == 0 && real(clock))
        now->tv_sec -= number_of("clock_gettime");
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int result = NEXT(gettimeofday)(now, zone);

    if (result == 0)
        now->tv_sec -= number_of("clock_gettime");
    return result;
}

time_t time(time_t *to)
{
    time_t now = NEXT(time)(NULL) - number_of("clock_gettime");

    if (to)
        *to = now;
    return now;
}
