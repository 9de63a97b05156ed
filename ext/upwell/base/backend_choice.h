/* Which backend a loop gets. */
#ifndef RB_UPWELL_BACKEND_CHOICE_H
#define RB_UPWELL_BACKEND_CHOICE_H

#include <ruby.h>

/* The name of the backend that will be used, the one asked for (a String) or with nil the first that works; found out
 * by using it. Raises Upwell::BackendError. */
VALUE rb_uw_choose_backend(VALUE wanted);

/* Why a backend whose trial gave `error` does not work. */
VALUE rb_uw_backend_reason(int error);

/* The same for a loop that an application makes: `wanted` is a String, a Symbol, or nil for UPWELL_BACKEND. */
const char *rb_uw_loop_backend(VALUE wanted);

#endif
