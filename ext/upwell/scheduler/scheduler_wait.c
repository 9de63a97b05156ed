/* The wait record: a fiber's stay between the call that blocks it and what it waits for. */
#include "scheduler/scheduler.h"

#include <errno.h>
#include <time.h>

#include "upwell.h"

int64_t rb_uw_nanoseconds(VALUE seconds)
{
    struct timespec time;

    if (NIL_P(seconds))
        return UW_FOREVER;
    time = rb_time_timespec_interval(seconds);
    if (time.tv_sec >= UW_FOREVER / UW_NS_PER_SECOND)
        return UW_FOREVER;
    return time.tv_sec * UW_NS_PER_SECOND + time.tv_nsec;
}

int64_t rb_uw_deadline(int64_t timeout_ns)
{
    int64_t now_ns = uw_clock_ns();

    if (timeout_ns == 0)
        return 0; /* long past: due in the next turn, while now would be rounded up to the next tick */
    return timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : INT64_MAX;
}

/* Its fiber goes on before the one at `place`, unless it is about to go on already. */
static void end_before(struct rb_uw_wait *wait, struct uw_list *place)
{
    wait->over = true;
    if (uw_list_empty(&wait->ready))
        uw_list_append(place, &wait->ready);
}

void rb_uw_wait_end(struct rb_uw_wait *wait)
{
    end_before(wait, &wait->scheduler->ready);
}

/* Whoever writes holds the IO's lock, and Ruby finds the lock that was taken last soonest: so the last goes on first.
 */
static void completed(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct rb_uw_wait *wait = uw_owner(operation, struct rb_uw_wait, on_io.operation);
    struct uw_list *ready = &wait->scheduler->ready;

    (void)loop;
    wait->result = result;
    wait->timed_out = wait->timed_out && result < 0;
    end_before(wait, operation->verb == UW_WRITE ? ready->next : ready);
}

static void expired(struct uw_loop *loop, struct uw_timer *timer)
{
    struct rb_uw_wait *wait = uw_owner(timer, struct rb_uw_wait, timer);

    if (wait->over)
        return;
    wait->timed_out = true;
    if (wait->on_io.operation.pending)
        uw_cancel(loop, &wait->on_io.operation);
    else
        rb_uw_wait_end(wait);
}

void rb_uw_scheduler_note_raiser(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (!NIL_P(scheduler->running) && scheduler->running != fiber)
        rb_ary_push(scheduler->left, scheduler->running);
    scheduler->running = fiber;
}

void rb_uw_scheduler_note(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (!scheduler->root_waits)
        return;
    if (RARRAY_LEN(scheduler->left) > 0 && RTEST(rb_ary_includes(scheduler->left, fiber))) {
        rb_ary_delete(scheduler->left, fiber); /* of what it does not have, it would ask a block */
        rb_uw_scheduler_note_raiser(scheduler, fiber);
    }
    scheduler->running = fiber;
}

void rb_uw_wait_init(struct rb_uw_wait *wait, struct rb_uw_scheduler *scheduler)
{
    *wait = (struct rb_uw_wait){.scheduler = scheduler,
                                .timer.expire = expired,
                                .fiber = rb_fiber_current(),
                                .generation = scheduler->generation};
    uw_list_init(&wait->link);
    uw_list_init(&wait->ready);
    uw_list_init(&wait->unblocked);
    rb_uw_io_operation_init(&wait->on_io, completed);
    rb_uw_scheduler_note(scheduler, wait->fiber);
}

static VALUE give_way(VALUE argument)
{
    rb_uw_scheduler_give_way((struct rb_uw_scheduler *)argument);
    return Qnil;
}

static void begin(struct rb_uw_wait *wait, struct uw_list *list)
{
    uw_list_append(list, &wait->link);
    wait->scheduler->waiting++;
}

bool rb_uw_wait_is_void(const struct rb_uw_wait *wait)
{
    return wait->generation != wait->scheduler->generation || rb_uw_scheduler_is_copy(wait->scheduler);
}

static void forget(struct rb_uw_wait *wait)
{
    struct rb_uw_scheduler *scheduler = wait->scheduler;
    st_data_t fiber = wait->fiber;

    if (rb_uw_wait_is_void(wait))
        return;
    rb_uw_io_operation_end(&wait->on_io);
    uw_timer_stop(scheduler->loop, &wait->timer);
    if (wait->blocked)
        st_delete(scheduler->blocked, &fiber, NULL);
    uw_list_remove(&wait->ready);
    uw_list_remove(&wait->unblocked);
    uw_list_remove(&wait->link);
    scheduler->waiting--;
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
        begin(wait, &scheduler->waits);

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
        forget(wait);
    if (state)
        rb_uw_unwind(state, error);
}

static VALUE forget_after_all(VALUE argument)
{
    forget((struct rb_uw_wait *)argument);
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
    forget(wait);
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

    begin(wait, list);
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

int64_t rb_uw_wait_left(const struct rb_uw_wait *wait, int64_t timeout_ns)
{
    int64_t left_ns = wait->timer.deadline_ns - uw_clock_ns();

    if (timeout_ns == UW_FOREVER)
        return UW_FOREVER;
    return left_ns > 0 ? left_ns : 0;
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
    begin(&turn.wait, &scheduler->waits);
    uw_list_append(NIL_P(fiber) ? &scheduler->ready : &scheduler->starters, &turn.wait.ready);
    rb_ensure(give_turn, (VALUE)&turn, leave, (VALUE)&turn.wait);
    RB_GC_GUARD(fiber);
}

/* The thread that unblocks may have come before the fiber that blocks. */
static bool unblocked_early(struct rb_uw_wait *wait)
{
    VALUE early = wait->scheduler->early;

    return RARRAY_LEN(early) > 0 && !NIL_P(rb_ary_delete(early, wait->fiber));
}

bool rb_uw_wait_blocked(struct rb_uw_wait *wait, int64_t timeout_ns)
{
    if (unblocked_early(wait))
        return true;
    rb_uw_raise_due_timeout(wait->scheduler);
    wait_in(wait, &wait->scheduler->sleeping, timeout_ns);
    return !wait->timed_out;
}

static void note_sleeping(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->sleeping)) {
        struct rb_uw_wait *wait = uw_owner(scheduler->sleeping.next, struct rb_uw_wait, link);

        st_insert(scheduler->blocked, wait->fiber, (st_data_t)wait);
        wait->blocked = true;
        uw_list_remove(&wait->link);
        uw_list_append(&scheduler->waits, &wait->link);
    }
}

struct rb_uw_wait *rb_uw_wait_of_blocked(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    st_data_t record;

    if (st_lookup(scheduler->blocked, fiber, &record))
        return (struct rb_uw_wait *)record;
    note_sleeping(scheduler);
    return st_lookup(scheduler->blocked, fiber, &record) ? (struct rb_uw_wait *)record : NULL;
}

void rb_uw_io_operation_init(struct rb_uw_io_operation *on_io, uw_complete *complete)
{
    *on_io = (struct rb_uw_io_operation){.operation.complete = complete, .io = Qnil};
    uw_list_init(&on_io->descriptor);
    uw_list_init(&on_io->cut_off);
}

void rb_uw_io_operation_begin(struct rb_uw_io_operation *on_io, struct rb_uw_scheduler *scheduler, VALUE io)
{
    on_io->io = io;
    uw_list_append(&scheduler->descriptors[(unsigned)on_io->operation.fd % RB_UW_DESCRIPTOR_BUCKETS],
                   &on_io->descriptor);
    uw_submit(scheduler->loop, &on_io->operation);
}

void rb_uw_io_operation_end(struct rb_uw_io_operation *on_io)
{
    if (on_io->hold)
        rb_uw_hold_release(on_io->hold);
    on_io->hold = NULL;
    uw_list_remove(&on_io->descriptor);
    uw_list_remove(&on_io->cut_off);
}

void rb_uw_io_operation_check(const struct rb_uw_io_operation *on_io)
{
    if (on_io->io_closed)
        rb_raise(rb_eIOError, "stream closed in another thread");
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
