/* Implements system.h by the POSIX realtime options, for all systems but macOS and Windows. */
#if !(defined(__APPLE__) || defined(_WIN32))

#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/system.h"

void uw_signal_take(int signal)
{
    static const struct timespec at_once;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    (void)sigtimedwait(&set, NULL, &at_once); /* fails if no signal is pending */
}

int uw_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);

    if (error)
        return error;
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return error;
}

int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    struct timespec deadline = {deadline_ns / UW_NS_PER_SECOND, deadline_ns % UW_NS_PER_SECOND};

    return pthread_cond_timedwait(condition, lock, &deadline);
}

#else
typedef int uw_system_clock_posix_is_left_out; /* ISO C requires a declaration */
#endif
