/* Upwell::Input, `rack.input`: the content of a request, complete before the application is called; in memory or in a
 * file. */
#ifndef RB_UPWELL_INPUT_CLASS_H
#define RB_UPWELL_INPUT_CLASS_H

#include <ruby.h>
#include <stdbool.h>

struct uw_request;

void rb_uw_init_input(void);
VALUE rb_uw_input_new(struct uw_request *core);
VALUE rb_uw_input_empty(void);

/* Whether the application has set neither variables nor methods on it. */
bool rb_uw_input_is_unmarked(VALUE input);
void rb_uw_input_end(VALUE input);
void rb_uw_input_close(VALUE input);

#endif
