/* The fibers of a scheduler: how one starts, and how it ends. */
#ifndef RB_UPWELL_SCHEDULER_FIBER_H
#define RB_UPWELL_SCHEDULER_FIBER_H

#include "scheduler/scheduler.h"

void rb_uw_init_scheduler_fiber(void);

/* Starts `fiber`; the caller is resumed when that fiber waits or ends. */
void rb_uw_scheduler_start(struct rb_uw_scheduler *scheduler, VALUE fiber);

#endif
