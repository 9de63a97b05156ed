#include "scheduler/scheduler_fiber_wait.h"

#include <errno.h>

#include "base/module.h"
#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_timeouts.h"
#include "scheduler/scheduler_wait_record.h"

#define CANCEL_NS (10 * UW_NS_PER_MS) /* the kernel's time to release an operation before other fibers are resumed */

static VALUE give_way(VALUE argument)
{
    rb_uw_scheduler_give_way((struct rb_uw_scheduler *)argument);
    return Qnil;
}

struct cancelling {
    struct rb_uw_wait *wait;
    struct uw_operation *operation;
};

/* Runs the loop in this fiber; the fiber that raised into it is resumed when this one ends or waits again. */
static VALUE await_kernel(VALUE argument)
{
    const struct cancelling *cancelling = (const struct cancelling *)argument;
    struct uw_operation *operation = cancelling->operation;
    struct rb_uw_scheduler *scheduler = cancelling->wait->scheduler;
    int64_t end_ns = uw_clock_ns() + CANCEL_NS, left_ns = CANCEL_NS;
    int status;

    uw_cancel(scheduler->loop, operation);
    uw_loop_flush_sync(scheduler->loop);
    status = rb_uw_scheduler_turn_here(scheduler, 0);
    while (!status && operation->pending && left_ns > 0) {
        status = rb_uw_scheduler_turn_here(scheduler, left_ns);
        if (rb_uw_wait_is_void(cancelling->wait))
            break;
        left_ns = end_ns - uw_clock_ns();
    }
    return Qnil;
}

/* Exceptions raised into the fiber meanwhile are raised once the kernel has released the operation; of several, the
 * last one. */
void rb_uw_wait_cancel(struct rb_uw_wait *wait, struct uw_operation *operation)
{
    struct rb_uw_scheduler *scheduler = wait->scheduler;
    bool left = uw_list_empty(&wait->link);
    struct cancelling cancelling = {wait, operation};
    VALUE error = Qnil;
    int state = 0;

    if (rb_uw_wait_is_void(wait))
        return;
    if (left) /* the wait is over, but the scheduler must not end */
        rb_uw_wait_begin(wait, &scheduler->waits);

    if (operation->pending)
        rb_protect(await_kernel, (VALUE)&cancelling, &state);
    if (state)
        error = rb_errinfo();
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

/* Cancels at once: later data is for others. */
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
            rb_raise(rb_eUpwellError, "the scheduler was closed while this fiber was waiting; close the scheduler when "
                                      "its fibers have ended");
        rb_uw_scheduler_give_way(wait->scheduler);
    }
    wait->returned = true;
    return Qnil;
}

static bool has_come(const struct rb_uw_wait *wait)
{
    return wait->over && !wait->timed_out && wait->result >= 0 && !rb_uw_wait_is_void(wait);
}

/* The operation may have succeeded before the kernel releases it. A time-out raised meanwhile must not discard the
 * result: it is raised when the fiber waits again. */
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
    wait->gives_way = timeout_ns == 0;
    wait->scheduler->begun = wait;
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

    if (scheduler->interrupted)
        rb_uw_scheduler_raise_async(scheduler);
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

/* Starts again as for any file: a reopened IO may be no socket any more. */
static void begin_anew(struct rb_uw_wait *wait)
{
    const struct uw_operation former = wait->on_io.operation;
    struct uw_operation *operation = &wait->on_io.operation;

    rb_uw_wait_init(wait, wait->scheduler);
    operation->opcode = former.opcode;
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
