/* The root: the fiber that turns a scheduler's loop, and has the others go on after each turn. */
#ifndef RB_UPWELL_SCHEDULER_ROOT_H
#define RB_UPWELL_SCHEDULER_ROOT_H

#include "scheduler/scheduler.h"

/* The child of a fork within a fiber ends with that fiber, as it would behind the block of that fork: whoever would go
 * on next is its parent's. `state` is rb_protect's. */
NORETURN(void rb_uw_end_child(int state));

typedef void rb_uw_root_work(struct rb_uw_scheduler *scheduler, VALUE argument);

/* Has the current fiber be the root while `work` runs. A root that waits is the root already: then nobody else is. */
void rb_uw_as_root(struct rb_uw_scheduler *scheduler, rb_uw_root_work *work, VALUE argument);

/* The following are for the root alone. */

/* Calls `function`, which has another fiber go on. Returns the state of what was raised, as rb_protect does. */
int rb_uw_root_protect(VALUE (*function)(VALUE), VALUE argument);

/* Takes a record out of `starters`, `batch` or `ready`; its fiber is to go on. */
VALUE rb_uw_root_take(struct uw_list *link);

/* Lets `fiber` go on until it waits or ends, and then those that started others meanwhile. */
void rb_uw_root_transfer(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Has every fiber go on that is ready. */
void rb_uw_root_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused);

/* Raises into a fiber that waits. Returns whether that could be done: Ruby 3.1 does not raise in one that has resumed
 * another, such as an enumerator's; and what another thread raises into this one may come while the exception is made.
 * Sets the state of what is to end the thread, or 0. */
bool rb_uw_root_raise(struct rb_uw_scheduler *scheduler, VALUE fiber, int argc, const VALUE *argv, int *state);

/* scheduler_root.c: turns the loop, without the interpreter's lock. */
void rb_uw_root_turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns);

#endif
