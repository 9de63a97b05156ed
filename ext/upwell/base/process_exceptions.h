/* SystemExit and SignalException: which of them are meant for the process, and which for the request that raised them.
 */
#ifndef RB_UPWELL_PROCESS_EXCEPTIONS_H
#define RB_UPWELL_PROCESS_EXCEPTIONS_H

#include <ruby.h>
#include <stdbool.h>

/* Starts to note the origin of such exceptions. A second call does nothing. */
void rb_uw_note_process_exceptions(void);

/* Marks an exception that another thread raises for the process. */
void rb_uw_mark_for_process(VALUE error);

/* Whether the unwinding of a request should end the process. True for anything but an exception, and for exceptions
 * meant for the process. A trap handler raises those, or a thread that calls exit; Ruby passes the latter on to the
 * main thread. */
bool rb_uw_ends_process(VALUE error);

void rb_uw_init_process_exceptions(void);

#endif
