/* Mode fibers: each request runs on a fiber of the loop's thread. */
#ifndef RB_UPWELL_REACTOR_FIBERS_H
#define RB_UPWELL_REACTOR_FIBERS_H

#include "server/reactor_mode.h"

extern const struct rb_uw_mode rb_uw_mode_fibers;

void rb_uw_init_reactor_fibers(void);

#endif
