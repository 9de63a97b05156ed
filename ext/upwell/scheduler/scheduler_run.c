#include "scheduler/scheduler_run.h"

#include <ruby/fiber/scheduler.h>
#include <string.h>

#include "base/module.h"
#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_transfer.h"

#define STOP_NS UW_NS_PER_SECOND /* for the `ensure` clauses of fibers that are ended by the scheduler's end */

static void run_all(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    while (!rb_uw_scheduler_is_copy(scheduler) && rb_uw_scheduler_pending(scheduler)) {
        rb_uw_root_run_ready(scheduler, unused);
        if (!rb_uw_scheduler_is_copy(scheduler) && rb_uw_scheduler_pending(scheduler))
            rb_uw_root_turn(scheduler, UW_FOREVER);
    }
}

/* Raises the first error, as Thread#join does. */
static void raise_error(struct rb_uw_scheduler *scheduler)
{
    VALUE error = scheduler->error;

    scheduler->error = Qnil;
    if (!NIL_P(error))
        rb_exc_raise(error);
}

/* A fiber of the scheduler, or a trap handler during `run`, must not run it again. */
static void check_not_running(const struct rb_uw_scheduler *scheduler)
{
    if (!NIL_P(scheduler->root))
        rb_raise(rb_eUpwellError,
                 "this scheduler is already running: its fibers and signal handlers cannot call run or close");
}

/*
 * Runs until no fiber waits.
 *
 * @return [nil]
 * @raise [Exception] the first one that a fiber did not rescue, after all have ended
 * @raise [Upwell::Error] on one of its own fibers, and in a trap handler during #run
 * @raise [SystemCallError] when the event loop fails
 */
static VALUE scheduler_run(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);

    check_not_running(scheduler);
    rb_uw_as_root(scheduler, run_all, Qnil);
    if (!rb_uw_scheduler_is_copy(scheduler))
        raise_error(scheduler);
    RB_GC_GUARD(self);
    return Qnil;
}

/* Closing */

/* A fiber of another library, such as a task of the gem async, may let the exception out. */
static void stop_protected(VALUE (*function)(VALUE), VALUE argument)
{
    int state = rb_uw_root_protect(function, argument);

    if (state && !rb_uw_is_error(rb_errinfo(), rb_uw_eStop) && !rb_uw_is_error(rb_errinfo(), rb_uw_eFiberError))
        rb_jump_tag(state);
    if (state)
        rb_set_errinfo(Qnil);
}

static VALUE raise_stop_in(VALUE fiber)
{
    return rb_fiber_raise(fiber, 1, &rb_uw_eStop);
}

static VALUE run_ready(VALUE scheduler)
{
    rb_uw_root_run_ready((struct rb_uw_scheduler *)scheduler, Qnil);
    return Qnil;
}

static void raise_stop(struct rb_uw_scheduler *scheduler, VALUE fibers)
{
    for (long i = 0; i < RARRAY_LEN(fibers); i++) {
        VALUE fiber = RARRAY_AREF(fibers, i);

        if (!RTEST(rb_fiber_alive_p(fiber)))
            continue;
        scheduler->root_waits = true;
        stop_protected(raise_stop_in, fiber);
        scheduler->root_waits = false;
        scheduler->running = Qnil;
    }
}

static void add_fibers(VALUE fibers, const struct uw_list *waits)
{
    for (const struct uw_list *link = waits->next; link != waits; link = link->next)
        rb_ary_push(fibers, uw_container_of(link, struct rb_uw_wait, link)->fiber);
}

static VALUE waiting_fibers(const struct rb_uw_scheduler *scheduler)
{
    VALUE fibers = rb_ary_new();

    add_fibers(fibers, &scheduler->waits);
    add_fibers(fibers, &scheduler->sleeping);
    return fibers;
}

/* The `ensure` clauses of the fibers have STOP_NS. */
static void stop_all(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    int64_t deadline_ns = uw_clock_ns() + STOP_NS, now_ns;

    (void)unused;
    raise_stop(scheduler, waiting_fibers(scheduler));
    while (!rb_uw_scheduler_is_copy(scheduler) && rb_uw_scheduler_pending(scheduler) &&
           (now_ns = uw_clock_ns()) < deadline_ns) {
        rb_uw_root_turn(scheduler, deadline_ns - now_ns);
        stop_protected(run_ready, (VALUE)scheduler);
    }
}

static VALUE stop_fibers(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);

    if (scheduler->loop && !rb_uw_scheduler_is_copy(scheduler) && rb_uw_scheduler_pending(scheduler))
        rb_uw_as_root(scheduler, stop_all, Qnil);
    return Qnil;
}

/* A thread that is killed, or ends in an exception, does not wait for its fibers. */
static bool thread_goes_on(void)
{
    VALUE status = rb_funcall(rb_thread_current(), rb_intern("status"), 0);

    return NIL_P(rb_errinfo()) && strcmp(StringValueCStr(status), "aborting") != 0;
}

static VALUE run_if_thread_goes_on(VALUE self)
{
    return thread_goes_on() ? scheduler_run(self) : Qnil;
}

static VALUE end_fibers_and_loop(VALUE self)
{
    return rb_ensure(stop_fibers, self, rb_uw_scheduler_end_loop, self);
}

void rb_uw_scheduler_stop(struct rb_uw_scheduler *scheduler)
{
    end_fibers_and_loop(scheduler->self);
}

static VALUE run_and_end(VALUE self)
{
    return rb_ensure(run_if_thread_goes_on, self, end_fibers_and_loop, self);
}

/* Ruby 3.1 would keep a scheduler whose close has failed, and call it in all code that runs at the exit of the process.
 */
static void leave_thread(VALUE self)
{
    if (rb_fiber_scheduler_get() == self)
        rb_fiber_scheduler_set(Qnil);
}

/*
 * Runs until no fiber waits, and closes the loop. An interrupt such as Ctrl-C, an exception that ends the thread, or
 * Thread#kill ends the fibers: their `ensure` clauses have a second.
 * Fiber.set_scheduler(nil) and the end of the thread call this.
 *
 * @return [nil]
 * @raise [Exception] as #run does
 * @raise [Upwell::Error] during #run, and for a server's scheduler, which the server closes
 */
static VALUE scheduler_close(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);
    int state;

    if (rb_uw_scheduler_serves(scheduler))
        rb_raise(rb_eUpwellError, "the server closes this scheduler itself when it stops; do not call close");
    if (scheduler->closed)
        return Qnil;
    if (!scheduler->loop || rb_uw_scheduler_is_copy(scheduler))
        return rb_uw_scheduler_end_loop(self);
    check_not_running(scheduler);
    rb_protect(run_and_end, self, &state);
    if (state) {
        leave_thread(self);
        rb_jump_tag(state);
    }
    return Qnil;
}

void rb_uw_init_scheduler_run(void)
{
    rb_define_method(rb_uw_cScheduler, "run", scheduler_run, 0);
    rb_define_method(rb_uw_cScheduler, "close", scheduler_close, 0);
}
