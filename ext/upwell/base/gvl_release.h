/* Iterations of a loop without the interpreter's lock. */
#ifndef RB_UPWELL_GVL_RELEASE_H
#define RB_UPWELL_GVL_RELEASE_H

#include <ruby.h>
#include <ruby/thread.h>

#include "io/loop.h"

/* Runs one iteration of `loop`, without the interpreter's lock during the wait, so completions must not touch Ruby.
 * Returns what uw_loop_turn does. Raises nothing, but an interrupt of the thread runs its trap handlers or raises
 * before this returns. */
int rb_uw_turn(struct uw_loop *loop, int64_t wait_ns);

/* Call this before a wait: raises an exception deferred until the thread blocks (Thread.handle_interrupt). May also run
 * trap handlers and let other threads run. */
void rb_uw_raise_what_was_put_off(void);

/* Runs rb_uw_turn unless the thread is interrupted already; sets `interrupted` when it was. */
int rb_uw_turn_until_interrupted(struct uw_loop *loop, int64_t wait_ns, bool *interrupted);

#endif
