/* Suppresses SIGPIPE in this thread during a call that has no flag for this purpose. The application may change the
 * signal's action at any time. Other threads and later calls are not affected. */
#ifndef UW_BASE_SIGPIPE_H
#define UW_BASE_SIGPIPE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/system.h"

static inline sigset_t uw_sigpipe(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

/* Returns whether the caller must unblock the signal later. The application may have blocked it. */
static inline bool uw_sigpipe_block(void)
{
    sigset_t set = uw_sigpipe(), before;

    pthread_sigmask(SIG_BLOCK, &set, &before);
    return !sigismember(&before, SIGPIPE);
}

/* Discards the signal that a call has raised. A signal pending for the thread is delivered before one pending for the
 * process. */
static inline void uw_sigpipe_take(void)
{
    uw_signal_take(SIGPIPE);
}

static inline void uw_sigpipe_unblock(void)
{
    sigset_t set = uw_sigpipe();

    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

#endif
