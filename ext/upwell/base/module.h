/* The module Upwell, and the exceptions of this gem. */
#ifndef RB_UPWELL_MODULE_H
#define RB_UPWELL_MODULE_H

#include <ruby.h>

extern VALUE rb_mUpwell, rb_eUpwellError, rb_eUpwellBackendError;

/* Before anything else is defined. */
void rb_uw_init_module(void);

#endif
