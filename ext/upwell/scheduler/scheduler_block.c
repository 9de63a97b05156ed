#include "scheduler/scheduler_block.h"

#include "base/module.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_wait_record.h"

static VALUE cMutex;

struct blocking {
    struct rb_uw_wait wait;
    VALUE blocker;
    int64_t timeout_ns;
};

static VALUE block(VALUE argument)
{
    struct blocking *blocking = (struct blocking *)argument;

    return rb_uw_wait_blocked(&blocking->wait, blocking->timeout_ns) ? Qtrue : Qfalse;
}

/* A mutex wakes one waiting fiber. If an exception interrupts this fiber before it has locked the mutex, the next one
 * must be woken. Ruby does not do this. */
static VALUE pass_on(VALUE argument)
{
    const struct blocking *blocking = (const struct blocking *)argument;

    if (!blocking->wait.over || blocking->wait.returned || !RTEST(rb_obj_is_kind_of(blocking->blocker, cMutex)))
        return Qnil;
    if (RTEST(rb_mutex_trylock(blocking->blocker)))
        rb_mutex_unlock(blocking->blocker);
    return Qnil;
}

/* As in Thread#join and Queue#pop for threads, a negative time-out ends at once. */
static int64_t timeout_of(VALUE seconds)
{
    return !NIL_P(seconds) && NUM2DBL(seconds) < 0 ? 0 : rb_uw_nanoseconds_or_forever(seconds);
}

/*
 * Suspends the current fiber until it is unblocked.
 *
 * @param blocker [Object] the object of the wait: a Mutex, a Thread, a Queue
 * @param timeout [Numeric, nil] seconds; a negative time-out ends at once, Infinity never
 * @return [Boolean] whether it was unblocked before the time-out
 */
static VALUE scheduler_block(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct blocking blocking;

    rb_check_arity(argc, 1, 2);
    blocking.blocker = argv[0];
    blocking.timeout_ns = timeout_of(argc > 1 ? argv[1] : Qnil);
    rb_uw_wait_init(&blocking.wait, scheduler);
    return rb_ensure(block, (VALUE)&blocking, pass_on, (VALUE)&blocking);
}

void rb_uw_scheduler_wake(struct rb_uw_scheduler *scheduler)
{
    if (scheduler->turning && !rb_uw_scheduler_is_copy(scheduler))
        uw_loop_wake(scheduler->loop);
}

/*
 * Ends a #block. May be called by any thread.
 *
 * @param blocker [Object] not used
 * @param fiber [Fiber]
 * @return [nil]
 */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);
    struct rb_uw_wait *wait = rb_uw_wait_of_blocked(scheduler, fiber);

    (void)blocker;
    if (!wait) {
        if (!scheduler->turning)
            rb_ary_push(scheduler->early, fiber);
        return Qnil;
    }
    wait->over = true;
    uw_list_remove(&wait->unblocked);
    uw_list_append(&scheduler->unblocked, &wait->unblocked);
    rb_uw_scheduler_wake(scheduler);
    return Qnil;
}

void rb_uw_scheduler_interrupt(struct rb_uw_scheduler *scheduler, VALUE fiber, VALUE exception)
{
    rb_ary_push(scheduler->interrupts, fiber);
    rb_ary_push(scheduler->interrupts, exception);
    rb_uw_scheduler_wake(scheduler);
}

static void spare(VALUE interrupts, VALUE fiber)
{
    for (long i = RARRAY_LEN(interrupts) - 2; i >= 0; i -= 2) {
        if (RARRAY_AREF(interrupts, i) != fiber)
            continue;
        rb_ary_delete_at(interrupts, i + 1);
        rb_ary_delete_at(interrupts, i);
    }
}

void rb_uw_scheduler_spare(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    spare(scheduler->interrupts, fiber);
    spare(scheduler->deferred, fiber);
}

/*
 * Raises an exception in a fiber, as soon as it waits. May be called by any thread.
 *
 * @param fiber [Fiber]
 * @param exception [Exception]
 * @return [nil]
 */
static VALUE scheduler_fiber_interrupt(VALUE self, VALUE fiber, VALUE exception)
{
    rb_uw_scheduler_interrupt(rb_uw_scheduler_get(self), fiber, exception);
    return Qnil;
}

void rb_uw_init_scheduler_block(void)
{
    cMutex = rb_path2class("Thread::Mutex");
    rb_define_method(rb_uw_cScheduler, "block", scheduler_block, -1);
    rb_define_method(rb_uw_cScheduler, "unblock", scheduler_unblock, 2);
#if RB_UW_RUBY(4, 0)
    rb_define_method(rb_uw_cScheduler, "fiber_interrupt", scheduler_fiber_interrupt, 2);
#else
    (void)scheduler_fiber_interrupt;
#endif
}
