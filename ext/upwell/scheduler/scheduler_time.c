#include "scheduler/scheduler_time.h"

#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_timeouts.h"
#include "scheduler/scheduler_wait_record.h"

/*
 * For Kernel#sleep and Mutex#sleep.
 *
 * @param duration [Numeric, nil] seconds; nil means no limit
 * @return [true]
 */
static VALUE scheduler_kernel_sleep(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct rb_uw_wait wait;
    int64_t duration_ns;

    rb_check_arity(argc, 0, 1);
    duration_ns = rb_uw_nanoseconds(argc > 0 ? argv[0] : Qnil);
    rb_uw_wait_init(&wait, scheduler);
    rb_uw_wait_blocked(&wait, duration_ns);
    return Qtrue;
}

static void expired(struct uw_loop *loop, struct uw_timer *timer)
{
    struct rb_uw_timeout *timeout = uw_container_of(timer, struct rb_uw_timeout, timer);

    (void)loop;
    uw_list_append(&timeout->scheduler->timeouts, &timeout->link);
}

static VALUE yield(VALUE argument)
{
    return rb_yield(((struct rb_uw_timeout *)argument)->duration);
}

static VALUE stop(VALUE argument)
{
    struct rb_uw_timeout *timeout = (struct rb_uw_timeout *)argument;

    if (timeout->scheduler->raising == timeout)
        timeout->scheduler->raising = NULL;
    if (timeout->generation == timeout->scheduler->generation) {
        uw_timer_stop(timeout->scheduler->loop, &timeout->timer);
        uw_list_remove(&timeout->link);
    }
    return Qnil;
}

/*
 * For Timeout.timeout: limits the time of a block. The block is interrupted during a wait, not while it computes.
 *
 * @param duration [Numeric] seconds
 * @param exception [Class, Exception, String] the exception, with further arguments as for Kernel#raise
 * @return [Object] the block's value
 * @yieldparam duration [Numeric]
 */
static VALUE scheduler_timeout_after(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct rb_uw_timeout timeout = {
        .scheduler = scheduler, .timer.expire = expired, .generation = scheduler->generation};
    int64_t duration_ns;

    rb_check_arity(argc, 2, UNLIMITED_ARGUMENTS);
    rb_need_block();
    duration_ns = rb_uw_nanoseconds_or_forever(argv[0]);
    uw_list_init(&timeout.link);
    timeout.fiber = rb_fiber_current();
    timeout.duration = argv[0];
    timeout.argc = argc - 1;
    timeout.argv = argv + 1;
    if (duration_ns != UW_FOREVER)
        uw_timer_start(scheduler->loop, &timeout.timer, rb_uw_deadline(duration_ns));
    return rb_ensure(yield, (VALUE)&timeout, stop, (VALUE)&timeout);
}

void rb_uw_init_scheduler_time(void)
{
    rb_define_method(rb_uw_cScheduler, "kernel_sleep", scheduler_kernel_sleep, -1);
    rb_define_method(rb_uw_cScheduler, "timeout_after", scheduler_timeout_after, -1);
}
