/* The callable objects of an env, which know their request as long as it is being served. */
#ifndef RB_UPWELL_ENV_CALLABLES_H
#define RB_UPWELL_ENV_CALLABLES_H

#include "rack/rack_request.h"

VALUE rb_uw_callable_new(VALUE class, struct uw_request *core);

/* The core's request of `self`, or NULL when it has ended. */
struct uw_request *rb_uw_callable_core(VALUE self);

/* Raises IOError when the request is over; `what` goes into the message. */
struct rb_uw_rack_request *rb_uw_callable_request(VALUE self, const char *what);

/* Ends the callables and the input: no thread can use the request through them any more. */
void rb_uw_end_callables(const struct rb_uw_rack_request *request);

#endif
