/* The env of a long-lived client. Many of them slow down Ruby's collector, and so other requests. So equal parts are
 * shared, and no env refers to an IO, which each collection would mark again. */
#ifndef RB_UPWELL_RETAINED_ENV_H
#define RB_UPWELL_RETAINED_ENV_H

#include "rack/rack_request.h"

void rb_uw_init_retained_env(void);

/* The replacement of rack.errors in the env of a long-lived client. */
VALUE rb_uw_retained_errors(void);

/* The client becomes long-lived, and its env is retained. */
void rb_uw_retain_env(const struct rb_uw_rack_request *request);

#endif
