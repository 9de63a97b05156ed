/* Exceptions that other threads raise into a serving thread: each interrupts a request, ends the thread, or is
 * logged. */
#ifndef RB_UPWELL_ASYNC_EXCEPTIONS_H
#define RB_UPWELL_ASYNC_EXCEPTIONS_H

#include <ruby.h>
#include <stdbool.h>

/* Upwell::ExceptionLog. The first call loads it, so that it is not loaded when descriptors have run out. */
VALUE rb_uw_error_log(void);

/* Calls `function`, and logs an exception. Returns the state of one that ends the thread or the process, else 0. */
int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument);

/* Treats a state that rb_protect returned as above: returns it if it is to end the thread or the process, else logs. */
int rb_uw_end_or_log(int state);

/* Logs an exception that belongs to no request. */
void rb_uw_log_stray(VALUE error);

/* Whether a time-out applies to the thread's current work: the end of a request, which cannot be interrupted otherwise,
 * or the server. It may be of any class; the sign is that Ruby's Timeout raises it on this thread. */
bool rb_uw_interrupts_anyway(VALUE error);

#endif
