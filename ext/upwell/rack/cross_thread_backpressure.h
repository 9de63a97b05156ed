/* Calls of other threads to the loop are bounded: a thread that posts more waits, without stopping any other thread. */
#ifndef RB_UPWELL_CROSS_THREAD_BACKPRESSURE_H
#define RB_UPWELL_CROSS_THREAD_BACKPRESSURE_H

#include "rack/rack_context.h"

typedef int rb_uw_post_function(const void *argument);

/* Calls one of pub_sub/cross_thread.h's functions once there is quota for `bytes` bytes. Returns its result; -ESHUTDOWN
 * when the server is closed; or -EAGAIN while the loop is blocked. Raises NoMemoryError. */
int rb_uw_post_or_wait(struct rb_uw_rack_context *rack_context, rb_uw_post_function *post, const void *argument,
                       size_t bytes);

#endif
