/* SIGPIPE kept from this thread, where a call cannot be told not to raise it: what that signal does is for the
 * application to say, at any time. Other threads, and what the thread does later, are not concerned. */
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

/* Whether it is to be unblocked later: its owner may want it blocked. */
static inline bool uw_sigpipe_block(void)
{
    sigset_t set = uw_sigpipe(), before;

    pthread_sigmask(SIG_BLOCK, &set, &before);
    return !sigismember(&before, SIGPIPE);
}

/* Forgets the one that a call has raised. What is pending for the thread is taken before what is for the process. */
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
