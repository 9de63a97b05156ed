/* The file that a body names with `to_path`. */
#ifndef RB_UPWELL_TO_PATH_FILE_H
#define RB_UPWELL_TO_PATH_FILE_H

#include "rack/rack_context.h"

void rb_uw_init_body_file(void);

/* Returns the length of the body's file; -1 when no such file exists. */
int64_t rb_uw_body_file_bytes(VALUE body);

/* Returns its descriptor, or -1 when `each` must send the body: not a file, or another length than `length`. */
int rb_uw_body_file_open(struct rb_uw_rack_context *rack_context, VALUE body, uint64_t length);

#endif
