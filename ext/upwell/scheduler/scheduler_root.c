/* The fiber that turns a scheduler's loop, and those that go on after a turn. */
#include "scheduler/scheduler_root.h"

#include "base/forks.h"
#include "upwell.h"

#define TURNS_MAX 32 /* that fibers take in a row before the root has its turn */

struct root {
    struct rb_uw_scheduler *scheduler;
    rb_uw_root_work *work;
    VALUE argument, before;
    unsigned generation, forks;
};

void rb_uw_end_child(int state)
{
    if (state && rb_uw_is_error(rb_errinfo(), rb_uw_eStop)) { /* as it ends a fiber, without a report */
        rb_set_errinfo(Qnil);
        state = 0;
    }
    ruby_stop(state);
}

static VALUE work_as_root(VALUE argument)
{
    struct root *root = (struct root *)argument;

    root->work(root->scheduler, root->argument);
    return Qnil;
}

/* In a child it is the root itself that goes on where a trap handler has forked; else a fiber has ended that did not go
 * by rb_uw_scheduler_run_fiber. */
static bool child_of_fiber(const struct root *root)
{
    return rb_uw_forked_since(root->forks) &&
           (root->scheduler->root_waits || root->generation != root->scheduler->generation);
}

/* An exception may have come in the midst of a turn, or when another fiber came back. */
static void end_as_root(struct root *root)
{
    root->scheduler->root_waits = root->scheduler->relays = root->scheduler->turning = false;
    root->scheduler->running = Qnil;
    root->scheduler->root = root->generation == root->scheduler->generation ? root->before : Qnil;
}

void rb_uw_as_root(struct rb_uw_scheduler *scheduler, rb_uw_root_work *work, VALUE argument)
{
    struct root root = {scheduler, work, argument, scheduler->root, scheduler->generation, rb_uw_forks_now()};
    int state;

    scheduler->root = rb_fiber_current();
    rb_protect(work_as_root, (VALUE)&root, &state);
    if (child_of_fiber(&root))
        rb_uw_end_child(state);
    end_as_root(&root);
    if (state)
        rb_jump_tag(state);
    RB_GC_GUARD(root.before);
    RB_GC_GUARD(argument);
}

int rb_uw_root_protect(VALUE (*function)(VALUE), VALUE argument)
{
    unsigned forks = rb_uw_forks_now();
    int state;

    rb_protect(function, argument, &state);
    if (rb_uw_forked_since(forks))
        rb_uw_end_child(state);
    return state;
}

static void transfer_to(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    unsigned forks = rb_uw_forks_now();

    scheduler->root_waits = true;
    scheduler->running = fiber;
    rb_fiber_transfer(fiber, 0, NULL);
    if (rb_uw_forked_since(forks))
        rb_uw_end_child(0);
    scheduler->running = Qnil;
    scheduler->root_waits = false;
}

/* Takes a record out of `starters`, `batch` or `ready`; its fiber is to go on. */
static VALUE take(struct uw_list *link)
{
    struct rb_uw_wait *wait = uw_owner(link, struct rb_uw_wait, ready);

    uw_list_remove(&wait->ready);
    return wait->fiber;
}

void rb_uw_root_transfer(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    transfer_to(scheduler, fiber);
    while (!uw_list_empty(&scheduler->starters))
        transfer_to(scheduler, take(scheduler->starters.previous));
}

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

struct raising {
    VALUE fiber;
    int argc;
    const VALUE *argv;
};

static VALUE raise_in_fiber(VALUE argument)
{
    const struct raising *raising = (const struct raising *)argument;

    if (raising->fiber == rb_fiber_current())
        rb_exc_raise(rb_make_exception(raising->argc, raising->argv));
    return rb_fiber_raise(raising->fiber, raising->argc, raising->argv);
}

/* Whether `fiber` was unblocked and has not gone on yet. What woke it, a queue's element for example, would be lost. */
static bool unblocked(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    st_data_t record;

    return st_lookup(scheduler->blocked, fiber, &record) && ((struct rb_uw_wait *)record)->over &&
           !((struct rb_uw_wait *)record)->timed_out;
}

bool rb_uw_root_raise(struct rb_uw_scheduler *scheduler, VALUE fiber, int argc, const VALUE *argv, int *state)
{
    struct raising raising = {fiber, argc, argv};
    bool gone_on;

    *state = 0;
    if (unblocked(scheduler, fiber))
        return false;
    scheduler->root_waits = true;
    scheduler->running = Qnil;
    *state = rb_uw_root_protect(raise_in_fiber, (VALUE)&raising);
    scheduler->root_waits = false;
    gone_on = !NIL_P(scheduler->running) || fiber == rb_fiber_current();
    scheduler->running = Qnil;
    if (!*state)
        return true;
    if (!rb_uw_is_error(rb_errinfo(), rb_uw_eFiberError))
        return gone_on;
    rb_set_errinfo(Qnil);
    *state = 0;
    return false;
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
        rb_uw_root_transfer(scheduler, take(scheduler->batch.next));
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
        return take(scheduler->starters.previous);
    if (uw_list_empty(&scheduler->batch) && may_turn(scheduler))
        turn_in_passing(scheduler);
    if (uw_list_empty(&scheduler->batch) || scheduler->root_wanted)
        return scheduler->root;
    return take(scheduler->batch.next);
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
