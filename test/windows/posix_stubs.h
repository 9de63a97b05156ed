/* What tests name and Windows lacks. What is not made in posix_stubs.c fails; the tests that need it are named in
 * skipped_tests.h. */
#ifndef UW_TEST_POSIX_STUBS_H
#define UW_TEST_POSIX_STUBS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

static inline int uw_lacks(void)
{
    errno = ENOSYS;
    return -1;
}

static inline pid_t uw_waitpid(pid_t pid, int *status, int options)
{
    (void)pid, (void)options;
    if (status)
        *status = 0;
    return uw_lacks();
}

#define POLLRDHUP 0
#define POLLRDBAND 0

#define EFD_CLOEXEC 0
#define EFD_NONBLOCK 0
#define eventfd(count, flags) ((void)(count), uw_lacks())

#define alarm(seconds) ((void)(seconds)) /* whoever runs the tests ends them, too */
#define fork() ((pid_t)uw_lacks())
#define pause() uw_lacks()
#define kill(pid, number) ((void)(pid), uw_lacks())
#define waitpid uw_waitpid
#define WIFSIGNALED(status) false
#define WTERMSIG(status) (status)
#define WIFEXITED(status) false
#define WEXITSTATUS(status) (status)

typedef int uid_t;
#define setfsuid(user) ((void)(user), uw_lacks())
#define getuid() 1
#define geteuid() 1
#define getppid() 1

#define RTLD_NEXT NULL
#define dlsym(library, name) ((void)(name), NULL)

#define SIGUSR1 30
#define SIGBUS 31

struct sigaction {
    void (*sa_handler)(int);
};

#define sigaction(number, action, before) ((void)(action), uw_lacks())

struct itimerval {
    struct timeval it_value;
};

#define ITIMER_REAL 0
#define setitimer(which, timer, before) ((void)(timer), uw_lacks())

typedef struct {
    uint64_t bits;
} cpu_set_t;

#define CPU_ZERO(set) ((void)((set)->bits = 0))
#define CPU_SET(number, set) ((void)((set)->bits |= UINT64_C(1) << (number)))
#define sched_getcpu() 0
#define sched_getaffinity(thread, size, set) ((set)->bits = 1, 0)
#define sched_setaffinity(thread, size, set) ((void)(thread), (void)(set), 0)

#define posix_openpt(flags) uw_lacks()
#define grantpt(fd) uw_lacks()
#define unlockpt(fd) uw_lacks()
#define ptsname(fd) ((char *)NULL)

#define RLIMIT_FSIZE 1
#define RLIM_INFINITY UINT64_C(1048576)
#define SO_REUSEPORT 0
#define TCP_DEFER_ACCEPT 0

void *memmem(const void *bytes, size_t length, const void *sought, size_t sought_length);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
char *mkdtemp(char *path);
/* The core asks for one name at once. */
int uw_open_at(int folder, const char *path, int flags, ...);
#define openat uw_open_at

int renameat(int from_folder, const char *from, int to_folder, const char *to);
int mkdirat(int folder, const char *name, unsigned mode);
int symlinkat(const char *target, int folder, const char *name);
int mkfifoat(int folder, const char *name, unsigned mode);
int mknodat(int folder, const char *name, unsigned mode, int device); /* files alone */
int fchmodat(int folder, const char *name, unsigned mode, int flags);
int unlinkat(int folder, const char *name, int flags);
int utimensat(int folder, const char *name, const struct timespec times[2], int flags);
int futimens(int fd, const struct timespec times[2]);

#define AT_REMOVEDIR 1
#define MFD_CLOEXEC 0
int memfd_create(const char *name, unsigned flags);

/* A copy of what is in a file, or comes from a pipe until its end, of which only the copy stays. */
FILE *uw_copy_of(int fd);
#define fdopen(fd, mode) uw_copy_of(fd)

/* Folders, too. */
int uw_remove(const char *path);
#define remove uw_remove

#endif
