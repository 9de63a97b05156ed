/* Upwell::Stream: the object that a body writes to. */
#ifndef RB_UPWELL_STREAM_CLASS_H
#define RB_UPWELL_STREAM_CLASS_H

#include "rack/rack_response.h"

void rb_uw_init_stream(void);
VALUE rb_uw_stream_new(struct rb_uw_rack_response *response);
void rb_uw_stream_write(VALUE stream, VALUE piece);

/* Closes the stream after current writes on other threads. */
void rb_uw_stream_end(VALUE stream);

#endif
