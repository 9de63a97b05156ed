/* Mode threads: the loop has its own thread, and requests run on threads of Ruby. */
#ifndef RB_UPWELL_REACTOR_THREADS_H
#define RB_UPWELL_REACTOR_THREADS_H

#include "server/reactor_mode.h"

extern const struct rb_uw_mode rb_uw_mode_threads;

#endif
