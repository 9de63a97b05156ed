#include "scheduler/scheduler_io_close.h"

#include <ruby/io.h>

#include "scheduler/scheduler.h"
#include "scheduler/scheduler_block.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_wait_record.h"

#if RB_UW_RUBY(4, 0)

/*
 * For IO#close, after the waiting fibers of the descriptor were interrupted.
 *
 * @param fd [Integer]
 * @return [true]
 */
static VALUE scheduler_io_close(VALUE self, VALUE fd)
{
    int error = uw_close(rb_uw_scheduler_use(self)->loop, NUM2INT(fd));

    if (error)
        rb_syserr_fail(-error, "cannot close an IO");
    return Qtrue;
}

void rb_uw_init_scheduler_io_close(void)
{
    rb_define_method(rb_uw_cScheduler, "io_close", scheduler_io_close, 1);
}

#endif
