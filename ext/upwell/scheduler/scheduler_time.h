/* The hooks for time: sleep and Timeout.timeout. */
#ifndef RB_UPWELL_SCHEDULER_TIME_H
#define RB_UPWELL_SCHEDULER_TIME_H

void rb_uw_init_scheduler_time(void);

#endif
