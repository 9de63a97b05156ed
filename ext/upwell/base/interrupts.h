/* What other threads have raised into this one. */
#ifndef RB_UPWELL_INTERRUPTS_H
#define RB_UPWELL_INTERRUPTS_H

void rb_uw_init_interrupts(void);

/* Raises what other threads have raised into this one for the fiber that runs. Ruby's mask (Thread.handle_interrupt) is
 * no fiber's but the thread's: one that waits within it would hold this back, and be struck itself. */
void rb_uw_take_interrupts(void);

#endif
