/* A fiber's stay between the call that blocks it and what it waits for. */
#include <errno.h>

#include "base/module.h"
#include "base/unwinding.h"
#include "scheduler/scheduler_holds.h"

static VALUE give_way(VALUE argument)
{
    rb_uw_scheduler_give_way((struct rb_uw_scheduler *)argument);
    return Qnil;
}

/* What is raised into the fiber meanwhile is raised when the kernel has let go of the operation; of several, the last.
 */
void rb_uw_wait_cancel(struct rb_uw_wait *wait, struct uw_operation *operation)
{
    struct rb_uw_scheduler *scheduler = wait->scheduler;
    bool left = uw_list_empty(&wait->link);
    VALUE error = Qnil;
    int state = 0;

    if (rb_uw_wait_is_void(wait))
        return;
    if (left) /* what it waited for is over, but the scheduler must not be */
        rb_uw_wait_begin(wait, &scheduler->waits);

    while (operation->pending && !rb_uw_wait_is_void(wait)) {
        int raised = 0;

        uw_cancel(scheduler->loop, operation);
        rb_protect(give_way, (VALUE)scheduler, &raised);
        if (raised) {
            rb_uw_scheduler_note_raiser(wait->scheduler, wait->fiber);
            state = raised;
            error = rb_errinfo();
        }
    }
    if (left)
        rb_uw_wait_forget(wait);
    if (state)
        rb_uw_unwind(state, error);
}

static VALUE forget_after_all(VALUE argument)
{
    rb_uw_wait_forget((struct rb_uw_wait *)argument);
    return Qnil;
}

/* At once: what comes from now on is for others. */
static VALUE cancel_operation(VALUE argument)
{
    struct rb_uw_wait *wait = (struct rb_uw_wait *)argument;

    if (!rb_uw_wait_is_void(wait)) {
        uw_cancel(wait->scheduler->loop, &wait->on_io.operation);
        uw_loop_flush(wait->scheduler->loop);
    }
    rb_uw_wait_cancel(wait, &wait->on_io.operation);
    return Qnil;
}

static VALUE leave(VALUE argument)
{
    struct rb_uw_wait *wait = (struct rb_uw_wait *)argument;

    if (!wait->returned)
        rb_uw_scheduler_note_raiser(wait->scheduler, wait->fiber);
    if (wait->on_io.operation.pending)
        return rb_ensure(cancel_operation, argument, forget_after_all, argument);
    rb_uw_wait_forget(wait);
    return Qnil;
}

static VALUE suspend(VALUE argument)
{
    struct rb_uw_wait *wait = (struct rb_uw_wait *)argument;

    while (!wait->over) {
        if (wait->generation != wait->scheduler->generation)
            rb_raise(rb_eUpwellError, "the scheduler was closed while this fiber was waiting");
        rb_uw_scheduler_give_way(wait->scheduler);
    }
    wait->returned = true;
    return Qnil;
}

static bool has_come(const struct rb_uw_wait *wait)
{
    return wait->over && !wait->timed_out && wait->result >= 0 && !rb_uw_wait_is_void(wait);
}

/* What was waited for may have come by the time the kernel lets go of it, or before. A time-out that has been raised
 * meanwhile does not take it away, and is raised when the fiber waits again. */
static void leave_raised(struct rb_uw_wait *wait, int state, VALUE former)
{
    struct rb_uw_timeout *timeout = rb_uw_scheduler_take_raising(wait->scheduler, wait->fiber);
    VALUE error = rb_errinfo();

    leave((VALUE)wait);
    if (!timeout || !has_come(wait))
        rb_uw_unwind(state, error);
    wait->returned = true;
    rb_uw_timeout_put_off(timeout);
    rb_set_errinfo(rb_uw_is_error(former, rb_eException) ? former : Qnil);
}

static void wait_in(struct rb_uw_wait *wait, struct uw_list *list, int64_t timeout_ns)
{
    VALUE former = rb_errinfo();
    int state;

    rb_uw_wait_begin(wait, list);
    if (timeout_ns != UW_FOREVER)
        uw_timer_start(wait->scheduler->loop, &wait->timer, rb_uw_deadline(timeout_ns));
    rb_protect(suspend, (VALUE)wait, &state);
    if (state)
        leave_raised(wait, state, former);
    else
        leave((VALUE)wait);
    RB_GC_GUARD(former);
}

void rb_uw_wait(struct rb_uw_wait *wait, int64_t timeout_ns)
{
    wait_in(wait, &wait->scheduler->waits, timeout_ns);
}

struct waiting_turn {
    struct rb_uw_wait wait;
    VALUE fiber;
};

static VALUE give_turn(VALUE argument)
{
    struct waiting_turn *turn = (struct waiting_turn *)argument;
    struct rb_uw_scheduler *scheduler = turn->wait.scheduler;

    if (scheduler->struck)
        rb_uw_scheduler_strike(scheduler);
    if (NIL_P(turn->fiber)) {
        rb_uw_scheduler_give_way(scheduler);
    } else {
        scheduler->running = turn->fiber;
        rb_fiber_transfer(turn->fiber, 0, NULL);
    }
    turn->wait.returned = true;
    return Qnil;
}

void rb_uw_wait_turn(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    struct waiting_turn turn = {.fiber = fiber};

    rb_uw_wait_init(&turn.wait, scheduler);
    rb_uw_wait_begin(&turn.wait, &scheduler->waits);
    uw_list_append(NIL_P(fiber) ? &scheduler->ready : &scheduler->starters, &turn.wait.ready);
    rb_ensure(give_turn, (VALUE)&turn, leave, (VALUE)&turn.wait);
    RB_GC_GUARD(fiber);
}

bool rb_uw_wait_blocked(struct rb_uw_wait *wait, int64_t timeout_ns)
{
    if (rb_uw_wait_unblocked_early(wait))
        return true;
    rb_uw_raise_due_timeout(wait->scheduler);
    wait_in(wait, &wait->scheduler->sleeping, timeout_ns);
    return !wait->timed_out;
}

static void wait_once(struct rb_uw_wait *wait, VALUE io, int64_t timeout_ns)
{
    rb_uw_check_open(&wait->on_io.operation);
    rb_uw_raise_due_timeout(wait->scheduler);
    rb_uw_io_operation_begin(&wait->on_io, wait->scheduler, io);
    rb_uw_wait(wait, timeout_ns);
    rb_uw_io_operation_check(&wait->on_io);
}

/* Whether nothing came of it, as its IO is another file now, and perhaps no socket any more. */
static bool in_vain(const struct rb_uw_wait *wait)
{
    bool failed = wait->result == -ECANCELED || wait->result == -EINTR || wait->result == -ENOTSOCK;

    return failed && wait->on_io.io_reopened && !wait->timed_out;
}

/* As of a file of any kind: it may be no socket any more. */
static void begin_anew(struct rb_uw_wait *wait)
{
    const struct uw_operation former = wait->on_io.operation;
    struct uw_operation *operation = &wait->on_io.operation;

    rb_uw_wait_init(wait, wait->scheduler);
    operation->verb = former.verb;
    operation->fd = former.fd;
    operation->data = former.data;
    operation->length = former.length;
    operation->offset = former.offset;
}

int32_t rb_uw_wait_operation(struct rb_uw_wait *wait, VALUE io, int64_t timeout_ns)
{
    wait_once(wait, io, timeout_ns);
    while (in_vain(wait)) {
        timeout_ns = rb_uw_wait_left(wait, timeout_ns);
        begin_anew(wait);
        wait_once(wait, io, timeout_ns);
    }
    RB_GC_GUARD(io);
    return wait->result;
}
