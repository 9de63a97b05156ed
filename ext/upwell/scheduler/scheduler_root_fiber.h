/* The fiber that runs a scheduler's loop, and the fibers resumed after an iteration. */
#ifndef RB_UPWELL_SCHEDULER_ROOT_FIBER_H
#define RB_UPWELL_SCHEDULER_ROOT_FIBER_H

#include "scheduler/scheduler.h"

/* Whether other fibers than the current one are ready. */
static inline bool rb_uw_scheduler_others_ready(const struct rb_uw_scheduler *scheduler)
{
    return !uw_list_empty(&scheduler->batch) || !uw_list_empty(&scheduler->due) || !uw_list_empty(&scheduler->ready);
}

/* Whether fibers are ready, so that the loop must not wait. */
bool rb_uw_scheduler_ready(const struct rb_uw_scheduler *scheduler);

/* Whether an iteration has made a fiber ready. Safe without the interpreter's lock, on the loop's thread. */
bool rb_uw_scheduler_brought(const struct rb_uw_scheduler *scheduler);

/* Whether fibers wait at all. */
bool rb_uw_scheduler_pending(const struct rb_uw_scheduler *scheduler);

/* Before an iteration: cancels operations whose IO others have closed. */
void rb_uw_scheduler_cancel_closed(struct rb_uw_scheduler *scheduler);

/* Call this before an iteration that releases the interpreter's lock. Returns whether the iteration must not wait. */
bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler);
void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler);

/* Runs an iteration on any fiber, and resumes no other fiber. Releases the interpreter's lock where it may wait.
 * Returns what uw_loop_turn does. */
int rb_uw_scheduler_turn_here(struct rb_uw_scheduler *scheduler, int64_t wait_ns);

/* Resumes every fiber that the iteration made ready, on the fiber that runs the loop. */
void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler);

/* Raises exceptions of other threads into the current fiber. */
void rb_uw_scheduler_raise_async(struct rb_uw_scheduler *scheduler);

/* Resumes other fibers until this one is resumed, or runs an iteration here. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler);

/* The following are for the root alone. */

/* Runs an iteration, without the interpreter's lock. */
void rb_uw_root_turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns);

/* Resumes every ready fiber. */
void rb_uw_root_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused);

#endif
