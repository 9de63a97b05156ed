/* A thread of our own beside the program's. */
#ifndef UW_BASE_THREAD_H
#define UW_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Signals are for the program's own threads: here they stay blocked, so that a pipe without a reader is an error, too.
 * Returns 0 or -errno. */
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
