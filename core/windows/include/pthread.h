#ifndef UW_WINDOWS_PTHREAD_H
#define UW_WINDOWS_PTHREAD_H

#include_next <pthread.h>

#undef pthread_sigmask
#define pthread_sigmask uw_posix_mask

#include <signal.h>

#endif
