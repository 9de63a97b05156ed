/* The choice of a loop's backend. */
#ifndef RB_UPWELL_BACKEND_CHOICE_H
#define RB_UPWELL_BACKEND_CHOICE_H

#include <ruby.h>

#include "io/backend.h"

/* Returns the backend's name: `wanted` (a String), or with nil the first that works. The check opens the backend.
 * Raises Upwell::BackendError. */
VALUE rb_uw_choose_backend(VALUE wanted);

/* Returns the reason why a backend with the probe result `error` does not work. */
VALUE rb_uw_backend_reason(const struct uw_backend *backend, int error);

/* Chooses the backend of a loop that an application makes: `wanted` is a String, a Symbol, or nil for
 * UPWELL_BACKEND. */
const char *rb_uw_loop_backend(VALUE wanted);

#endif
