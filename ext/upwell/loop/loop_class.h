/* Upwell::Loop: a reactor without callbacks. An iteration puts its events into a queue. Taking an event allocates
 * nothing. */
#ifndef RB_UPWELL_LOOP_CLASS_H
#define RB_UPWELL_LOOP_CLASS_H

void rb_uw_init_loop(void);

#endif
