/* Upwell::ExitDeadline: the process exits at a deadline, whatever Ruby does meanwhile. */
#ifndef RB_UPWELL_EXIT_DEADLINE_H
#define RB_UPWELL_EXIT_DEADLINE_H

void rb_uw_init_exit_deadline(void);

#endif
