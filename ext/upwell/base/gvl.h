/* Turns of a loop without the interpreter's lock. */
#ifndef RB_UPWELL_GVL_H
#define RB_UPWELL_GVL_H

#include <ruby.h>
#include <ruby/thread.h>

#include "io/loop.h"

/* A turn of `loop`, without the interpreter's lock while it waits; so what it completes must not touch Ruby. Returns
 * what uw_loop_turn does. Raises nothing, but an interrupt of the thread runs its trap handlers or exception before
 * this returns. */
int rb_uw_turn(struct uw_loop *loop, int64_t wait_ns);

/* To be called before a wait: an exception that is to come when the thread blocks (Thread.handle_interrupt). May also
 * carry out what handles a signal, and let other threads run. */
void rb_uw_raise_what_was_put_off(void);

/* The same as rb_uw_turn, but not begun when the thread is interrupted already; sets `interrupted` when it was. */
int rb_uw_turn_until_interrupted(struct uw_loop *loop, int64_t wait_ns, bool *interrupted);

#endif
