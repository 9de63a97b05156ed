/* Descriptors whose IO is closed or was reopened while operations use them, on the loops of all threads. Only before
 * Ruby 4.0, see scheduler_closed_io.h. */
#ifndef RB_UPWELL_SCHEDULER_CUT_OFF_H
#define RB_UPWELL_SCHEDULER_CUT_OFF_H

#include "scheduler/scheduler_closed_io.h"

void rb_uw_init_scheduler_cut_off(void);

/* Returns whether `io` is an open IO for which fibers may wait: false without schedulers, and in other ractors. */
bool rb_uw_any_may_wait(VALUE io);

/* Finds the descriptors of these parts, whose IOs are known. Other threads may run meanwhile. */
void rb_uw_parts_find(struct rb_uw_part *parts, int count);

/* Cancels all operations on the descriptor. */
void rb_uw_part_cut_off(struct rb_uw_part *part);

/* Does so before Ruby closes the descriptor, and retains the memory that the operations use. */
void rb_uw_part_begin(struct rb_uw_part *part);

/* Waits until no loop of another thread executes these operations. Other threads may run meanwhile. */
void rb_uw_part_await_loops(const struct rb_uw_part *part);

/* Ends the use of the part, after Ruby has closed the descriptor or failed. */
void rb_uw_part_end(struct rb_uw_part *part);

#endif
