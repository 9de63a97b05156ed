/* What tests name and Windows lacks: it fails. The contracts that need it are named in lacking_contracts.h. */
#ifndef UW_TEST_LACKING_H
#define UW_TEST_LACKING_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

static inline int uw_lacks(void)
{
    errno = ENOSYS;
    return -1;
}

#define POLLRDHUP 0
#define POLLRDBAND 0

#define EFD_CLOEXEC 0
#define EFD_NONBLOCK 0
#define eventfd(count, flags) ((void)(count), uw_lacks())

#define fork() ((pid_t)uw_lacks())
#define pause() uw_lacks()
#define kill(pid, number) ((void)(pid), uw_lacks())
#define waitpid(pid, status, options) ((void)(pid), (pid_t)uw_lacks())

#define RTLD_NEXT NULL
#define dlsym(library, name) ((void)(name), NULL)

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

#endif
