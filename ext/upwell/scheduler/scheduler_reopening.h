#ifndef RB_UPWELL_SCHEDULER_REOPENING_H
#define RB_UPWELL_SCHEDULER_REOPENING_H

#include <ruby.h>

/* Defines #reopen in a module that is prepended to IO. Only before Ruby 4.0. */
void rb_uw_init_scheduler_reopening(VALUE module);

#endif
