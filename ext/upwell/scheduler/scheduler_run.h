/* Running a scheduler until its fibers have ended, and closing it. */
#ifndef RB_UPWELL_SCHEDULER_RUN_H
#define RB_UPWELL_SCHEDULER_RUN_H

#include "scheduler/scheduler.h"

void rb_uw_init_scheduler_run(void);

/* Ends the waiting fibers, whose `ensure` clauses have a second, and releases the loop. */
void rb_uw_scheduler_stop(struct rb_uw_scheduler *scheduler);

#endif
