/* The hook for processes: a descriptor of the process becomes readable when it ends. */
#ifndef RB_UPWELL_SCHEDULER_PROCESS_H
#define RB_UPWELL_SCHEDULER_PROCESS_H

void rb_uw_init_scheduler_process(void);

#endif
