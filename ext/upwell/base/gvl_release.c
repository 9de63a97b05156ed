/* Loops and the interpreter's lock: a loop waits without it, and other threads run meanwhile. */
#include "base/gvl_release.h"

struct turn {
    struct uw_loop *loop;
    int64_t wait_ns;
    int status;
};

static void *take_turn(void *argument)
{
    struct turn *turn = argument;

    turn->status = uw_loop_turn(turn->loop, turn->wait_ns);
    return NULL;
}

static void wake(void *argument)
{
    uw_loop_wake(argument);
}

int rb_uw_turn(struct uw_loop *loop, int64_t wait_ns)
{
    struct turn turn = {loop, wait_ns, 0};

    if (wait_ns == 0) /* nothing to wait for: not worth letting go */
        return uw_loop_turn(loop, 0);
    rb_nogvl(take_turn, &turn, wake, loop, RB_NOGVL_UBF_ASYNC_SAFE);
    return turn.status;
}

/* Whether an exception is deferred until the thread blocks (Thread.handle_interrupt). Ruby shows such an exception here
 * alone. */
static bool is_put_off(VALUE thread)
{
    return !rb_thread_interrupted(thread) && RTEST(rb_funcall(thread, rb_intern("pending_interrupt?"), 0));
}

void rb_uw_raise_what_was_put_off(void)
{
    if (is_put_off(rb_thread_current()))
        rb_thread_check_ints();
}

/* EINTR alone does not prove a signal: the kernel may interrupt a wait for its own reasons. A signal after
 * rb_thread_interrupted is left to the next iteration; otherwise its handler would run without a report. */
int rb_uw_turn_until_interrupted(struct uw_loop *loop, int64_t wait_ns, bool *interrupted)
{
    struct turn turn = {loop, wait_ns, 0};

    rb_nogvl(take_turn, &turn, wake, loop, RB_NOGVL_UBF_ASYNC_SAFE | RB_NOGVL_INTR_FAIL);
    if (rb_thread_interrupted(rb_thread_current())) {
        *interrupted = true;
        rb_thread_check_ints();
    }
    return turn.status;
}
