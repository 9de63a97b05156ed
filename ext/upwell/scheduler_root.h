/* The root: the fiber that turns a scheduler's loop, and has the others go on after each turn. */
#ifndef RB_UPWELL_SCHEDULER_ROOT_H
#define RB_UPWELL_SCHEDULER_ROOT_H

#include "scheduler.h"

typedef void rb_uw_root_work(struct rb_uw_scheduler *scheduler, VALUE argument);

/* Has the current fiber be the root while `work` runs. A root that waits is the root already: then nobody else is. */
void rb_uw_as_root(struct rb_uw_scheduler *scheduler, rb_uw_root_work *work, VALUE argument);

/* The following are for the root alone. */

/* Lets `fiber` go on until it waits or ends, and then those that started others meanwhile. */
void rb_uw_root_transfer(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Has every fiber go on that is ready. */
void rb_uw_root_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused);

/* Raises into a fiber that waits. Returns whether that could be done: Ruby 3.1 does not raise in one that has resumed
 * another, such as an enumerator's. Sets the state of what is to end the thread, or 0. */
bool rb_uw_root_raise(struct rb_uw_scheduler *scheduler, VALUE fiber, int argc, const VALUE *argv, int *state);

/* Turns the loop, without the interpreter's lock. */
void rb_uw_root_turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns);

#endif
