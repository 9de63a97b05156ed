/* Upwell::Loop and Upwell::Selector. */
#ifndef RB_UPWELL_LOOP_INIT_H
#define RB_UPWELL_LOOP_INIT_H

#include "base/object_counts.h"

/* watch_wait.c: before the classes. */
void rb_uw_init_watches(void);
rb_uw_add_stats rb_uw_watches_add_stats;

/* loop_class.c */
void rb_uw_init_loop(void);

/* selector_class.c */
void rb_uw_init_selector(void);

#endif
