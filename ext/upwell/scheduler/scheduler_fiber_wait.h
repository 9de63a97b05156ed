/* A fiber's wait, from its blocking call to the end of the wait. */
#ifndef RB_UPWELL_SCHEDULER_FIBER_WAIT_H
#define RB_UPWELL_SCHEDULER_FIBER_WAIT_H

#include "scheduler/scheduler_wait_record.h"

/* Suspends the fiber until wait->over or the time is up. */
void rb_uw_wait(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Suspends it until it is unblocked (true) or the time is up (false). */
bool rb_uw_wait_blocked(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Submits wait->on_io.operation on `io`, and suspends the fiber until the operation has ended. Repeats once when `io`
 * is reopened meanwhile. Returns the result; a negative one after a time-out, with wait->timed_out set. Raises IOError
 * when `io` is closed meanwhile. */
int32_t rb_uw_wait_operation(struct rb_uw_wait *wait, VALUE io, int64_t timeout_ns);

/* Starts `fiber`, and returns when that fiber waits or ends. With nil, returns after all other fibers had their turn.
 */
void rb_uw_wait_turn(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Cancels an operation whose completion ends `wait`, and suspends the fiber until the operation has ended. */
void rb_uw_wait_cancel(struct rb_uw_wait *wait, struct uw_operation *operation);

#endif
