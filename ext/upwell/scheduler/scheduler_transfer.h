/* Switches between fibers: resuming another fiber, raising into it, and returning to the root. */
#ifndef RB_UPWELL_SCHEDULER_TRANSFER_H
#define RB_UPWELL_SCHEDULER_TRANSFER_H

#include "scheduler/scheduler.h"

/* A child forked within a fiber exits with that fiber, as at the end of the fork's block: the next fiber belongs to the
 * parent. `state` is rb_protect's. */
NORETURN(void rb_uw_end_child(int state));

typedef void rb_uw_root_work(struct rb_uw_scheduler *scheduler, VALUE argument);

/* Makes the current fiber the root while `work` runs. A waiting root remains the root; then no other fiber becomes the
 * root. */
void rb_uw_as_root(struct rb_uw_scheduler *scheduler, rb_uw_root_work *work, VALUE argument);

/* The following are for the root alone. */

/* Calls `function`, which resumes another fiber. Returns the state of an exception, as rb_protect does. */
int rb_uw_root_protect(VALUE (*function)(VALUE), VALUE argument);

/* Removes a record from `starters`, `batch` or `ready`, and returns its fiber. */
VALUE rb_uw_root_take(struct uw_list *link);

/* Resumes `fiber` until it waits or ends, and then fibers that started others meanwhile. */
void rb_uw_root_transfer(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Raises into a waiting fiber. Returns whether that succeeded. Ruby 3.1 cannot raise into a fiber that has resumed
 * another one, such as an enumerator's. And another thread's exception may arrive while the exception is made. Sets the
 * state of an exception that ends the thread, or 0. */
bool rb_uw_root_raise(struct rb_uw_scheduler *scheduler, VALUE fiber, int argc, const VALUE *argv, int *state);

#endif
