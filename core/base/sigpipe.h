/* Suppresses SIGPIPE in this thread during a call without a flag such as MSG_NOSIGNAL. The core cannot ignore SIGPIPE
 * for the whole process: the application owns the signal's action. */
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

/* Returns true if the caller must unblock SIGPIPE afterwards. Returns false if the application has blocked SIGPIPE. */
static inline bool uw_sigpipe_block(void)
{
    sigset_t set = uw_sigpipe(), before;

    pthread_sigmask(SIG_BLOCK, &set, &before);
    return !sigismember(&before, SIGPIPE);
}

/* Discards the SIGPIPE of a call with EPIPE. A signal of the thread is discarded before a signal of the process. */
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
