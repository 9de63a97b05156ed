#include "scheduler/scheduler_class.h"

#include "base/backend_choice.h"
#include "base/object_counts.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_block.h"
#include "scheduler/scheduler_fiber.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_io.h"
#include "scheduler/scheduler_io_close.h"
#include "scheduler/scheduler_process.h"
#include "scheduler/scheduler_run.h"
#include "scheduler/scheduler_select.h"
#include "scheduler/scheduler_time.h"
#include "scheduler/scheduler_write.h"

static VALUE scheduler_choose(VALUE self, VALUE backend)
{
    rb_uw_scheduler_get(self)->backend = rb_str_freeze(rb_uw_choose_backend(backend));
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"
 */
static VALUE scheduler_backend(VALUE self)
{
    return rb_uw_scheduler_get(self)->backend;
}

/*
 * @return [Boolean]
 */
static VALUE scheduler_closed(VALUE self)
{
    return rb_uw_scheduler_get(self)->closed ? Qtrue : Qfalse;
}

/*
 * Counts the fibers started and not ended, the fibers waiting, the operations in the kernel and the timers now; and the
 * iterations of the loop so far.
 *
 * @return [Hash{Symbol => Integer}]
 */
static VALUE scheduler_stats(VALUE self)
{
    const struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);
    const struct uw_loop *loop = scheduler->loop;
    VALUE stats = rb_hash_new();

    rb_uw_stats_put(stats, "fibers", scheduler->fibers);
    rb_uw_stats_put(stats, "waiting", scheduler->waiting);
    rb_uw_stats_put(stats, "operations", loop ? uw_loop_operations(loop) : 0);
    rb_uw_stats_put(stats, "timers", loop ? loop->timers.count : 0);
    rb_uw_stats_put(stats, "turns", loop ? loop->turns : 0);
    return stats;
}

static void add_stats(const struct rb_uw_scheduler *scheduler, struct rb_uw_stats *stats)
{
    stats->schedulers++;
    stats->fibers += scheduler->fibers;
    stats->waiting += scheduler->waiting;
    stats->descriptors += scheduler->selected;
    stats->operations += uw_loop_operations(scheduler->loop);
    stats->timers += scheduler->loop->timers.count;
    for (const struct uw_list *link = scheduler->waits.next; link != &scheduler->waits; link = link->next)
        if (!uw_list_empty(&uw_container_of(link, struct rb_uw_wait, link)->on_io.descriptor))
            stats->descriptors++;
}

void rb_uw_schedulers_add_stats(struct rb_uw_stats *stats)
{
    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next) {
        const struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (!rb_uw_scheduler_is_copy(scheduler))
            add_stats(scheduler, stats);
    }
}

void rb_uw_init_scheduler(void)
{
    rb_uw_init_scheduler_object();
    rb_define_private_method(rb_uw_cScheduler, "choose", scheduler_choose, 1);
    rb_define_method(rb_uw_cScheduler, "backend", scheduler_backend, 0);
    rb_define_method(rb_uw_cScheduler, "closed?", scheduler_closed, 0);
    rb_define_method(rb_uw_cScheduler, "stats", scheduler_stats, 0);
    rb_uw_init_scheduler_fiber();
    rb_uw_init_scheduler_block();
    rb_uw_init_scheduler_run();
    rb_uw_init_scheduler_time();
    rb_uw_init_scheduler_io();
    rb_uw_init_scheduler_select();
    rb_uw_init_scheduler_process();
    rb_uw_init_scheduler_io_close();
    rb_uw_init_scheduler_write();
}
