/* Fibers that wait for others: for a Mutex, a Queue, a Thread. */
#ifndef RB_UPWELL_SCHEDULER_BLOCK_H
#define RB_UPWELL_SCHEDULER_BLOCK_H

#include "scheduler/scheduler.h"

void rb_uw_init_scheduler_block(void);

/* Makes the loop check for requests of other threads. */
void rb_uw_scheduler_wake(struct rb_uw_scheduler *scheduler);

/* Raises `exception` in `fiber` as soon as it waits. For any thread. */
void rb_uw_scheduler_interrupt(struct rb_uw_scheduler *scheduler, VALUE fiber, VALUE exception);

/* Drops the exceptions waiting for `fiber`. */
void rb_uw_scheduler_spare(struct rb_uw_scheduler *scheduler, VALUE fiber);

#endif
