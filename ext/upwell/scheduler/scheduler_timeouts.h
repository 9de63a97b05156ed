/* Time-outs of Timeout.timeout: finding and raising the due ones. */
#ifndef RB_UPWELL_SCHEDULER_TIMEOUTS_H
#define RB_UPWELL_SCHEDULER_TIMEOUTS_H

#include "scheduler/scheduler.h"

/* Lives on the stack of the fiber with the time-out. */
struct rb_uw_timeout {
    struct rb_uw_scheduler *scheduler;
    struct uw_timer timer;
    struct uw_list link; /* in scheduler->timeouts when the time is up */
    VALUE fiber, duration;
    int argc; /* of the exception */
    const VALUE *argv;
    unsigned generation;
    bool tried; /* an earlier attempt raised: the exception's creation may raise each time */
};

/* Raises due time-outs into their fibers. */
void rb_uw_scheduler_raise_timeouts(struct rb_uw_scheduler *scheduler);

/* Returns the time-out whose exception has just reached `fiber`, or NULL. */
struct rb_uw_timeout *rb_uw_scheduler_take_raising(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* It is raised when its fiber waits again. */
void rb_uw_timeout_put_off(struct rb_uw_timeout *timeout);

/* Before the current fiber waits or submits an operation: raises its due time-out. */
void rb_uw_raise_due_timeout(struct rb_uw_scheduler *scheduler);

#endif
