/* See unwinding.c. */
#ifndef RB_UPWELL_UNWINDING_H
#define RB_UPWELL_UNWINDING_H

#include <ruby.h>
#include <stdbool.h>

/* Whether it is an exception, and of the class `of`. */
bool rb_uw_is_error(VALUE error, VALUE of);

/* Whether it is meant to end the thread or the process, and is no fault of the application. */
bool rb_uw_ends_thread(VALUE error);

/* Resumes the unwinding that rb_protect has stopped; `error` is rb_errinfo() from that time. */
NORETURN(void rb_uw_unwind(int state, VALUE error));

#endif
