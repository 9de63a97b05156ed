/* The fiber that turns a scheduler's loop, and those that go on after a turn. */
#include "scheduler/scheduler_root.h"

#include "base/gvl.h"
#include "base/interrupts.h"
#include "base/module.h"
#include "base/unwinding.h"

#define TURNS_MAX 32 /* that fibers take in a row before the root has its turn */

/* After a turn */

bool rb_uw_scheduler_ready(const struct rb_uw_scheduler *scheduler)
{
    return !uw_list_empty(&scheduler->ready) || !uw_list_empty(&scheduler->batch) ||
           !uw_list_empty(&scheduler->starters) || !uw_list_empty(&scheduler->unblocked) || scheduler->root_wanted ||
           RARRAY_LEN(scheduler->left) > 0 || RARRAY_LEN(scheduler->interrupts) > 0;
}

bool rb_uw_scheduler_brought(const struct rb_uw_scheduler *scheduler)
{
    return !uw_list_empty(&scheduler->ready) || !uw_list_empty(&scheduler->timeouts);
}

bool rb_uw_scheduler_pending(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->waiting > 0 || RARRAY_LEN(scheduler->left) > 0 || RARRAY_LEN(scheduler->interrupts) > 0;
}

static void end_unblocked(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->unblocked)) {
        struct rb_uw_wait *wait = uw_owner(scheduler->unblocked.next, struct rb_uw_wait, unblocked);

        uw_list_remove(&wait->unblocked);
        rb_uw_wait_end(wait);
    }
}

/* Those that could not be raised have to wait until others have gone on. */
static void raise_interrupts(struct rb_uw_scheduler *scheduler)
{
    if (RARRAY_LEN(scheduler->deferred) > 0) {
        rb_ary_concat(scheduler->interrupts, scheduler->deferred);
        rb_ary_clear(scheduler->deferred);
    }
    while (RARRAY_LEN(scheduler->interrupts) > 0) {
        VALUE fiber = rb_ary_shift(scheduler->interrupts), exception = rb_ary_shift(scheduler->interrupts);
        int state;

        if (!RTEST(rb_fiber_alive_p(fiber)))
            continue;
        if (!rb_uw_root_raise(scheduler, fiber, 1, &exception, &state)) {
            rb_ary_push(scheduler->deferred, fiber);
            rb_ary_push(scheduler->deferred, exception);
        }
        if (state)
            rb_jump_tag(state);
    }
}

static VALUE transfer_to_left(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);

    rb_uw_root_transfer(scheduler, rb_ary_shift(scheduler->left));
    return Qnil;
}

/* A fiber that has been resumed otherwise meanwhile, or has resumed another, goes on without us. */
static void run_left(struct rb_uw_scheduler *scheduler)
{
    while (RARRAY_LEN(scheduler->left) > 0) {
        int state = rb_uw_root_protect(transfer_to_left, scheduler->self);

        scheduler->root_waits = false;
        if (state && !rb_uw_is_error(rb_errinfo(), rb_uw_eFiberError))
            rb_jump_tag(state);
        rb_set_errinfo(Qnil);
    }
}

/* Those that are ready now: what they make ready has its turn after the loop's. */
static void make_batch(struct rb_uw_scheduler *scheduler)
{
    end_unblocked(scheduler);
    uw_list_move(&scheduler->batch, &scheduler->starters);
    uw_list_move(&scheduler->batch, &scheduler->ready);
}

void rb_uw_root_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    (void)unused;
    if (rb_uw_scheduler_is_copy(scheduler))
        return; /* in the child of a trap handler: the fibers are its parent's */
    scheduler->root_wanted = false;
    scheduler->turns_left = TURNS_MAX;
    rb_uw_scheduler_raise_timeouts(scheduler);
    raise_interrupts(scheduler);
    make_batch(scheduler);
    while (!uw_list_empty(&scheduler->batch)) {
        scheduler->relays = true;
        rb_uw_root_transfer(scheduler, rb_uw_root_take(scheduler->batch.next));
        scheduler->relays = false;
    }
    rb_uw_scheduler_raise_timeouts(scheduler); /* in those that had to go on first */
    raise_interrupts(scheduler);
    run_left(scheduler);
}

void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler)
{
    rb_uw_as_root(scheduler, rb_uw_root_run_ready, Qnil);
}

void rb_uw_scheduler_cancel_cut_off(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->cut_off)) {
        struct uw_list *link = scheduler->cut_off.next;

        uw_list_remove(link);
        uw_cancel(scheduler->loop, &uw_owner(link, struct rb_uw_io_operation, cut_off)->operation);
    }
}

bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler)
{
    rb_uw_scheduler_cancel_cut_off(scheduler);
    if (RARRAY_LEN(scheduler->early) > 0)
        rb_ary_clear(scheduler->early); /* whoever was about to block has done so */
    scheduler->turning = true;
    return rb_uw_scheduler_ready(scheduler);
}

void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler)
{
    scheduler->turning = false;
}

void rb_uw_root_turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns)
{
    int status;

    if (rb_uw_scheduler_begin_turn(scheduler))
        wait_ns = 0;
    status = rb_uw_turn(scheduler->loop, wait_ns);
    rb_uw_scheduler_end_turn(scheduler);
    if (wait_ns == 0)
        rb_thread_check_ints();
    if (status && !rb_uw_scheduler_is_copy(scheduler))
        rb_syserr_fail(-status, "waiting for events");
}

static void turn_and_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    rb_uw_root_turn(scheduler, UW_FOREVER);
    rb_uw_root_run_ready(scheduler, unused);
}

/* From fiber to fiber: while the root waits for its batch, a fiber that waits has the next one go on by itself, and
 * even turns the loop, as long as that brings something. The root then only waits for events, without the interpreter's
 * lock, and does what needs it. */

/* Only the root raises into fibers. */
static bool needs_root(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->root_wanted || RARRAY_LEN(scheduler->left) > 0 || RARRAY_LEN(scheduler->interrupts) > 0;
}

/* A server turns its loop itself. */
static bool may_turn(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->turns_left > 0 && scheduler->loop == &scheduler->own;
}

static void turn_in_passing(struct rb_uw_scheduler *scheduler)
{
    int status;

    rb_uw_scheduler_begin_turn(scheduler);
    status = uw_loop_turn(scheduler->loop, 0);
    rb_uw_scheduler_end_turn(scheduler);
    make_batch(scheduler);
    scheduler->turns_left = uw_list_empty(&scheduler->batch) ? 0 : scheduler->turns_left - 1;
    /* Whatever failed fails again there. */
    scheduler->root_wanted = status || !uw_list_empty(&scheduler->timeouts);
}

/* The fiber that is to go on when the current one waits. */
static VALUE next_fiber(struct rb_uw_scheduler *scheduler)
{
    if (!scheduler->relays || needs_root(scheduler))
        return scheduler->root;
    if (!uw_list_empty(&scheduler->starters))
        return rb_uw_root_take(scheduler->starters.previous);
    if (uw_list_empty(&scheduler->batch) && may_turn(scheduler))
        turn_in_passing(scheduler);
    if (uw_list_empty(&scheduler->batch) || scheduler->root_wanted)
        return scheduler->root;
    return rb_uw_root_take(scheduler->batch.next);
}

static void transfer_to_next(struct rb_uw_scheduler *scheduler)
{
    VALUE next = next_fiber(scheduler);

    scheduler->running = next == scheduler->root ? Qnil : next;
    if (next != rb_fiber_current())
        rb_fiber_transfer(next, 0, NULL);
}

void rb_uw_scheduler_strike(struct rb_uw_scheduler *scheduler)
{
    rb_uw_take_interrupts();
    scheduler->struck = false; /* and not before: there may be several */
}

/* A fiber that was resumed by the root itself, rather than by its transfer, cannot go back there: it turns the loop. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler)
{
    if (scheduler->struck)
        rb_uw_scheduler_strike(scheduler);
    if (rb_uw_scheduler_is_copy(scheduler)) /* as a trap handler has forked */
        rb_raise(rb_eUpwellError, "this process was forked while this fiber was waiting: its parent waits on");
    if (scheduler->root_waits)
        transfer_to_next(scheduler);
    else
        rb_uw_as_root(scheduler, turn_and_run_ready, Qnil);
}
