/* Starts a thread without signal handling. */
#ifndef UW_BASE_THREAD_H
#define UW_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Blocks all signals in the new thread. The program's own threads handle signals, and a write to a closed pipe fails
 * with EPIPE. Returns 0 or -errno. */
static inline int uw_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

#endif
