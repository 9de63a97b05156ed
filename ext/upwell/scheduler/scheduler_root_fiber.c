#include "scheduler/scheduler_root_fiber.h"

#include "base/gvl_release.h"
#include "base/module.h"
#include "base/pending_interrupts.h"
#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_timeouts.h"
#include "scheduler/scheduler_transfer.h"
#include "scheduler/scheduler_wait_record.h"

#define TURNS_MAX 32         /* iterations that fibers run in a row before the root does */
#define LOOK_NS UW_NS_PER_MS /* of a batch, before the loop is looked at */

/* After an iteration */

bool rb_uw_scheduler_ready(const struct rb_uw_scheduler *scheduler)
{
    return rb_uw_scheduler_others_ready(scheduler) || !uw_list_empty(&scheduler->starters) ||
           !uw_list_empty(&scheduler->unblocked) || scheduler->root_wanted || RARRAY_LEN(scheduler->left) > 0 ||
           RARRAY_LEN(scheduler->interrupts) > 0;
}

bool rb_uw_scheduler_brought(const struct rb_uw_scheduler *scheduler)
{
    return rb_uw_scheduler_others_ready(scheduler) || !uw_list_empty(&scheduler->timeouts);
}

bool rb_uw_scheduler_pending(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->waiting > 0 || RARRAY_LEN(scheduler->left) > 0 || RARRAY_LEN(scheduler->interrupts) > 0;
}

static void end_unblocked(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->unblocked)) {
        struct rb_uw_wait *wait = uw_container_of(scheduler->unblocked.next, struct rb_uw_wait, unblocked);

        uw_list_remove(&wait->unblocked);
        rb_uw_wait_end(wait);
    }
}

/* Exceptions that could not be raised wait until other fibers have run. */
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

    rb_uw_root_transfer(scheduler, rb_ary_pop(scheduler->left));
    return Qnil;
}

/* Resumes the last one first: a fiber may have raised into another that raised into a third as it ended. A fiber
 * resumed otherwise meanwhile, or one that has resumed another, continues by itself. */
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

/* Makes a batch of the fibers that are ready now. Fibers that these make ready run after the next iteration. An
 * interrupted batch continues. */
static void make_batch(struct rb_uw_scheduler *scheduler)
{
    end_unblocked(scheduler);
    if (!uw_list_empty(&scheduler->batch))
        return;
    uw_list_move(&scheduler->batch, &scheduler->starters);
    uw_list_move(&scheduler->batch, &scheduler->due);
    uw_list_move(&scheduler->batch, &scheduler->ready);
}

/* Takes the next fiber from the batch and from `due` in turn. */
static VALUE take_next(struct rb_uw_scheduler *scheduler)
{
    bool due = !uw_list_empty(&scheduler->due) && !scheduler->due_had_turn;

    scheduler->due_had_turn = due;
    return rb_uw_root_take(due ? scheduler->due.next : scheduler->batch.next);
}

static bool waits_for_loop(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->loop->timers.count > 0 || uw_loop_operations(scheduler->loop) > 0 ||
           !uw_list_empty(&scheduler->unblocked);
}

static uint8_t milliseconds(int64_t ns)
{
    return ns < UINT8_MAX * UW_NS_PER_MS ? (uint8_t)(ns / UW_NS_PER_MS) : UINT8_MAX;
}

/* A fiber ends or waits: whether to run the loop before the rest of the batch. Notes the fiber's computing time. */
static bool look_is_due(struct rb_uw_scheduler *scheduler)
{
    struct rb_uw_wait *begun = scheduler->begun;
    int64_t now_ns;

    scheduler->begun = NULL;
    if (uw_list_empty(&scheduler->batch) || !waits_for_loop(scheduler))
        return false;
    now_ns = uw_clock_ns();
    if (begun)
        begun->computed_ms = milliseconds(now_ns - scheduler->switched_ns);
    scheduler->switched_ns = now_ns;
    return now_ns - scheduler->looked_ns > LOOK_NS;
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
        rb_uw_root_transfer(scheduler, take_next(scheduler));
        scheduler->relays = false;
        if (look_is_due(scheduler))
            break;
    }
    rb_uw_scheduler_raise_timeouts(scheduler); /* into fibers that had to run first */
    raise_interrupts(scheduler);
    run_left(scheduler);
}

void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler)
{
    rb_uw_as_root(scheduler, rb_uw_root_run_ready, Qnil);
}

void rb_uw_scheduler_cancel_closed(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->cut_off)) {
        struct uw_list *link = scheduler->cut_off.next;

        uw_list_remove(link);
        uw_cancel(scheduler->loop, &uw_container_of(link, struct rb_uw_io_operation, cut_off)->operation);
    }
}

bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler)
{
    rb_uw_scheduler_cancel_closed(scheduler);
    if (RARRAY_LEN(scheduler->early) > 0)
        rb_ary_clear(scheduler->early); /* fibers about to block have blocked by now */
    scheduler->turning = true;
    return rb_uw_scheduler_ready(scheduler);
}

void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler)
{
    scheduler->turning = false;
    scheduler->looked_ns = scheduler->switched_ns = scheduler->loop->now_ns;
    if (!uw_list_empty(&scheduler->timeouts)) /* this may be the iteration of a fiber that ends */
        scheduler->root_wanted = true;
}

static VALUE end_turn(VALUE scheduler)
{
    rb_uw_scheduler_end_turn((struct rb_uw_scheduler *)scheduler);
    return Qnil;
}

struct turn_here {
    struct rb_uw_scheduler *scheduler;
    int64_t wait_ns;
    int status;
};

static VALUE turn_here(VALUE argument)
{
    struct turn_here *turn = (struct turn_here *)argument;

    rb_uw_scheduler_begin_turn(turn->scheduler);
    turn->status = rb_uw_turn(turn->scheduler->loop, turn->wait_ns);
    return Qnil;
}

int rb_uw_scheduler_turn_here(struct rb_uw_scheduler *scheduler, int64_t wait_ns)
{
    struct turn_here turn = {scheduler, wait_ns, 0};

    rb_ensure(turn_here, (VALUE)&turn, end_turn, (VALUE)scheduler);
    return turn.status;
}

void rb_uw_root_turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns)
{
    int status;

    if (rb_uw_scheduler_begin_turn(scheduler))
        wait_ns = 0;
    if (wait_ns != 0)
        rb_uw_raise_what_was_put_off();
    if (rb_uw_scheduler_is_copy(scheduler)) /* a trap handler has just forked */
        return;
    status = rb_uw_turn(scheduler->loop, wait_ns);
    rb_uw_scheduler_end_turn(scheduler);
    if (wait_ns == 0)
        rb_thread_check_ints();
    if (status && !rb_uw_scheduler_is_copy(scheduler))
        rb_syserr_fail(-status, "the fiber scheduler cannot wait for events; free memory, or restart the process");
}

static void turn_and_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    rb_uw_root_turn(scheduler, UW_FOREVER);
    rb_uw_root_run_ready(scheduler, unused);
}

/* Direct switches: while the root waits for its batch, a waiting fiber resumes the next fiber itself. It even runs the
 * loop as long as events arrive. The root then only waits for events, without the interpreter's lock, and does work
 * that only the root may do. */

/* Only the root raises into fibers. */
static bool needs_root(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->root_wanted || RARRAY_LEN(scheduler->left) > 0 || RARRAY_LEN(scheduler->interrupts) > 0;
}

/* A server runs its loop itself. */
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
    /* The root repeats the failing call and reports its error. */
    scheduler->root_wanted = scheduler->root_wanted || status;
}

/* Returns the fiber to resume when the current one waits. */
static VALUE next_fiber(struct rb_uw_scheduler *scheduler)
{
    bool look;

    if (!scheduler->relays || needs_root(scheduler))
        return scheduler->root;
    look = look_is_due(scheduler);
    if (!uw_list_empty(&scheduler->starters))
        return rb_uw_root_take(scheduler->starters.previous);
    if (uw_list_empty(&scheduler->batch) && may_turn(scheduler))
        turn_in_passing(scheduler);
    if (look || uw_list_empty(&scheduler->batch) || scheduler->root_wanted)
        return scheduler->root;
    return take_next(scheduler);
}

static void transfer_to_next(struct rb_uw_scheduler *scheduler)
{
    VALUE next = next_fiber(scheduler);

    scheduler->running = next == scheduler->root ? Qnil : next;
    if (next != rb_fiber_current())
        rb_fiber_transfer(next, 0, NULL);
}

void rb_uw_scheduler_raise_async(struct rb_uw_scheduler *scheduler)
{
    rb_uw_take_interrupts();
    scheduler->interrupted = false; /* and not before: there may be several */
}

/* A fiber resumed by the root itself, rather than by a transfer, cannot transfer back: it runs the loop. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler)
{
    if (scheduler->interrupted)
        rb_uw_scheduler_raise_async(scheduler);
    if (rb_uw_scheduler_is_copy(scheduler)) /* as a trap handler has forked */
        rb_raise(rb_eUpwellError, "this process was forked while this fiber was waiting: only the parent process "
                                  "continues the wait; start a new fiber");
    if (scheduler->root_waits)
        transfer_to_next(scheduler);
    else
        rb_uw_as_root(scheduler, turn_and_run_ready, Qnil);
}
