/* Exceptions that other threads have raised into this thread. */
#ifndef RB_UPWELL_PENDING_INTERRUPTS_H
#define RB_UPWELL_PENDING_INTERRUPTS_H

void rb_uw_init_interrupts(void);

/* Raises exceptions from other threads into the current fiber. Ruby's mask (Thread.handle_interrupt) belongs to the
 * thread, not to a fiber: a fiber that waits inside it would defer this, and would get the exception itself. */
void rb_uw_take_interrupts(void);

#endif
