/* An IO that is closed while fibers wait for it: they get an IOError, as threads do. */
#include "scheduler.h"

#include <ruby/io.h>

#include "upwell.h"

#if RB_UW_RUBY(4, 0)

/*
 * For IO#close, once the fibers that wait for the descriptor have been interrupted.
 *
 * @param fd [Integer]
 * @return [true]
 */
static VALUE scheduler_io_close(VALUE self, VALUE fd)
{
    int error = uw_close(rb_uw_scheduler_use(self)->loop, NUM2INT(fd));

    if (error)
        rb_syserr_fail(-error, "closing an IO");
    return Qtrue;
}

void rb_uw_init_scheduler_close(VALUE cScheduler)
{
    rb_define_method(cScheduler, "io_close", scheduler_io_close, 1);
}

#else /* Ruby does not tell: this is how it is found out. */

static void end_waits(struct rb_uw_scheduler *scheduler, VALUE io, int fd)
{
    struct uw_list *bucket = &scheduler->descriptors[(unsigned)fd % RB_UW_DESCRIPTOR_BUCKETS];
    bool pending = false;

    for (struct uw_list *link = bucket->next; link != bucket; link = link->next) {
        struct rb_uw_wait *wait = uw_owner(link, struct rb_uw_wait, descriptor);

        if (wait->io != io)
            continue;
        wait->io_closed = true;
        pending = pending || wait->operation.pending;
        uw_cancel(scheduler->loop, &wait->operation);
    }
    if (pending)
        uw_loop_settle(scheduler->loop);
}

/*
 * IO#close, for the fibers that wait for this IO: they get an IOError.
 *
 * @return [nil]
 */
static VALUE close_for_waiting(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_current();

    if (scheduler && scheduler->waiting > 0 && !rb_uw_scheduler_is_copy(scheduler) &&
        !RTEST(rb_funcall(self, rb_intern("closed?"), 0)))
        end_waits(scheduler, self, rb_io_descriptor(self));
    return rb_call_super(0, NULL);
}

void rb_uw_init_scheduler_close(VALUE cScheduler)
{
    /* Document-module: Upwell::Scheduler::Closing
     * Is prepended to IO before Ruby 4.0, which tells a scheduler itself of an IO that is closed; now, as an
     * application may freeze IO. */
    VALUE closing = rb_define_module_under(cScheduler, "Closing");

    rb_ext_ractor_safe(true); /* where there is no scheduler of ours */
    rb_define_method(closing, "close", close_for_waiting, 0);
    rb_ext_ractor_safe(false);
    rb_prepend_module(rb_cIO, closing);
}

#endif
