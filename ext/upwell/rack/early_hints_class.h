/* Upwell::EarlyHints: the object in env["rack.early_hints"]. */
#ifndef RB_UPWELL_EARLY_HINTS_CLASS_H
#define RB_UPWELL_EARLY_HINTS_CLASS_H

#include <ruby.h>

struct uw_request;

void rb_uw_init_early_hints(void);
VALUE rb_uw_early_hints_new(struct uw_request *core);

#endif
