/* Describes a wrong value of the application, for an error message. */
#ifndef RB_UPWELL_OBJECT_DESCRIPTION_H
#define RB_UPWELL_OBJECT_DESCRIPTION_H

#include <ruby.h>

VALUE rb_uw_described(VALUE object);

#endif
