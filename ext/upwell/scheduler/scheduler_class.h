/* Upwell::Scheduler: the class, its statistics, and its hooks; each group of hooks has its own file. */
#ifndef RB_UPWELL_SCHEDULER_CLASS_H
#define RB_UPWELL_SCHEDULER_CLASS_H

void rb_uw_init_scheduler(void);

#endif
