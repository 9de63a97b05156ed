/* The hook for IO.select, which Ruby calls since 3.2: the fiber waits for one operation for each IO, then poll(2) finds
 * all ready ones. */
#ifndef RB_UPWELL_SCHEDULER_SELECT_H
#define RB_UPWELL_SCHEDULER_SELECT_H

void rb_uw_init_scheduler_select(void);

#endif
