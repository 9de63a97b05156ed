/* Upwell::Hijack: the object in env["rack.hijack"]. */
#ifndef RB_UPWELL_HIJACK_CLASS_H
#define RB_UPWELL_HIJACK_CLASS_H

#include <ruby.h>

struct uw_request;

void rb_uw_init_hijack(void);
VALUE rb_uw_hijack_new(struct uw_request *core);

#endif
