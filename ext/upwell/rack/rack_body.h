/* The bodies of responses: an Array, a file (`to_path`), an enumerable (`each`), a callable, a partial hijack. */
#ifndef RB_UPWELL_RACK_BODY_H
#define RB_UPWELL_RACK_BODY_H

#include "rack/rack_response.h"

void rb_uw_init_body(void);

/* Turns a body with to_ary into an Array, so that its length is known. After a response 101, turns a callable body into
 * a hijacker. */
void rb_uw_body_prepare(struct rb_uw_rack_response *response);

/* Whether it streams by itself: is called with a stream. */
bool rb_uw_body_is_callable(const struct rb_uw_rack_response *response);

/* Sends the whole body after the head, and finishes. */
void rb_uw_body_send(struct rb_uw_rack_response *response);

/* Calls the body's `close`, if it has one. */
void rb_uw_body_close(struct rb_uw_rack_response *response);

#endif
