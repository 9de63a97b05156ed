/* Upwell::Scheduler: the object and its loop. */
#include "scheduler.h"

#include <ruby/fiber/scheduler.h>

#include "forks.h"
#include "io/backend.h"
#include "stats.h"
#include "upwell.h"

VALUE rb_uw_eStop, rb_uw_eFiberError;
static VALUE cScheduler;
static struct uw_list opened = {&opened, &opened}; /* the schedulers that have a loop */

static void mark_fibers(const struct uw_list *waits)
{
    for (const struct uw_list *link = waits->next; link != waits; link = link->next)
        rb_gc_mark(uw_owner(link, struct rb_uw_wait, link)->fiber);
}

static void scheduler_mark(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    rb_gc_mark(scheduler->self); /* itself: records point into it */
    rb_gc_mark(scheduler->root); /* compared with addresses on the stacks of fibers */
    rb_gc_mark_movable(scheduler->backend);
    rb_gc_mark_movable(scheduler->early);
    rb_gc_mark(scheduler->running); /* likewise */
    rb_gc_mark_movable(scheduler->left);
    rb_gc_mark_movable(scheduler->interrupts);
    rb_gc_mark_movable(scheduler->deferred);
    rb_gc_mark_movable(scheduler->error);
    rb_gc_mark_movable(scheduler->body);
    rb_gc_mark_movable(scheduler->block);
    mark_fibers(&scheduler->waits);
    mark_fibers(&scheduler->sleeping);
}

static void scheduler_compact(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    scheduler->backend = rb_gc_location(scheduler->backend);
    scheduler->early = rb_gc_location(scheduler->early);
    scheduler->left = rb_gc_location(scheduler->left);
    scheduler->interrupts = rb_gc_location(scheduler->interrupts);
    scheduler->deferred = rb_gc_location(scheduler->deferred);
    scheduler->error = rb_gc_location(scheduler->error);
    scheduler->body = rb_gc_location(scheduler->body);
    scheduler->block = rb_gc_location(scheduler->block);
}

bool rb_uw_scheduler_is_copy(const struct rb_uw_scheduler *scheduler)
{
    return rb_uw_forked_since(scheduler->forks);
}

static void take_loop(struct rb_uw_scheduler *scheduler, struct uw_loop *loop)
{
    scheduler->loop = loop;
    scheduler->forks = atomic_load(&rb_uw_forks);
    uw_list_append(&opened, &scheduler->opened);
}

static void close_loop(struct rb_uw_scheduler *scheduler)
{
    uw_list_remove(&scheduler->opened);
    if (scheduler->loop == &scheduler->own)
        uw_loop_close(scheduler->loop);
    scheduler->loop = NULL;
}

static void scheduler_free(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    close_loop(scheduler);
    st_free_table(scheduler->blocked);
    xfree(scheduler);
}

static size_t scheduler_memsize(const void *data)
{
    const struct rb_uw_scheduler *scheduler = data;

    return sizeof *scheduler + st_memsize(scheduler->blocked);
}

/* Without write barriers: records come and go with every wait, and the list is looked through in each collection. */
static const rb_data_type_t scheduler_type = {
    .wrap_struct_name = "Upwell::Scheduler",
    .function = {.dmark = scheduler_mark,
                 .dfree = scheduler_free,
                 .dsize = scheduler_memsize,
                 .dcompact = scheduler_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

struct rb_uw_scheduler *rb_uw_scheduler_get(VALUE self)
{
    struct rb_uw_scheduler *scheduler;

    TypedData_Get_Struct(self, struct rb_uw_scheduler, &scheduler_type, scheduler);
    return scheduler;
}

/* What a loop was told is void from here on. */
static void begin_generation(struct rb_uw_scheduler *scheduler)
{
    scheduler->generation++;
    scheduler->root = scheduler->running = Qnil;
    scheduler->root_waits = scheduler->root_wanted = scheduler->relays = scheduler->turning = scheduler->struck = false;
    scheduler->waiting = scheduler->selected = 0;
    uw_list_init(&scheduler->waits);
    uw_list_init(&scheduler->sleeping);
    uw_list_init(&scheduler->ready);
    uw_list_init(&scheduler->batch);
    uw_list_init(&scheduler->starters);
    uw_list_init(&scheduler->unblocked);
    uw_list_init(&scheduler->timeouts);
    for (size_t i = 0; i < RB_UW_DESCRIPTOR_BUCKETS; i++)
        uw_list_init(&scheduler->descriptors[i]);
    st_clear(scheduler->blocked);
}

static VALUE scheduler_allocate(VALUE class)
{
    st_table *blocked = st_init_numtable();
    struct rb_uw_scheduler *scheduler;
    VALUE self = TypedData_Make_Struct(class, struct rb_uw_scheduler, &scheduler_type, scheduler);

    scheduler->blocked = blocked;
    scheduler->self = self;
    uw_list_init(&scheduler->opened);
    scheduler->backend = scheduler->early = scheduler->left = scheduler->interrupts = scheduler->error = Qnil;
    scheduler->deferred = scheduler->body = scheduler->block = Qnil;
    begin_generation(scheduler);
    scheduler->early = rb_ary_new();
    scheduler->left = rb_ary_new();
    scheduler->interrupts = rb_ary_new();
    scheduler->deferred = rb_ary_new();
    scheduler->body = rb_proc_new(rb_uw_scheduler_run_fiber, self);
    return self;
}

static VALUE scheduler_choose(VALUE self, VALUE backend)
{
    rb_uw_scheduler_get(self)->backend = rb_str_freeze(rb_uw_choose_backend(backend));
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "poll" or "io_uring_sqpoll"
 */
static VALUE scheduler_backend(VALUE self)
{
    return rb_uw_scheduler_get(self)->backend;
}

VALUE rb_uw_scheduler_new(struct uw_loop *loop)
{
    VALUE options = rb_hash_new(), self;
    struct rb_uw_scheduler *scheduler;

    rb_hash_aset(options, ID2SYM(rb_intern("backend")), rb_str_new_cstr(loop->backend->name));
    self = rb_class_new_instance_kw(1, &options, cScheduler, RB_PASS_KEYWORDS);
    scheduler = rb_uw_scheduler_get(self);
    take_loop(scheduler, loop);
    return self;
}

/* A loop belongs to the thread that opens it, so that is done by the first who uses it. The child of a fork has no part
 * in its parent's loop, and opens one of its own. */
static void open_loop(struct rb_uw_scheduler *scheduler)
{
    int error;

    if (scheduler->closed)
        rb_raise(rb_eUpwellError, "this scheduler is closed: set a new one with Fiber.set_scheduler");
    if (scheduler->loop) {
        close_loop(scheduler);
        begin_generation(scheduler);
        scheduler->fibers = 0;
    }
    error = uw_loop_open(&scheduler->own, StringValueCStr(scheduler->backend), NULL);
    if (error)
        rb_syserr_fail(-error, "opening the event loop of a scheduler");
    take_loop(scheduler, &scheduler->own);
}

struct rb_uw_scheduler *rb_uw_scheduler_use(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);

    if (!scheduler->loop || rb_uw_scheduler_is_copy(scheduler))
        open_loop(scheduler);
    return scheduler;
}

struct rb_uw_scheduler *rb_uw_scheduler_current(void)
{
    VALUE scheduler = rb_fiber_scheduler_get();

    return rb_typeddata_is_kind_of(scheduler, &scheduler_type) ? rb_uw_scheduler_get(scheduler) : NULL;
}

bool rb_uw_scheduler_serves(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->loop && scheduler->loop != &scheduler->own && !rb_uw_scheduler_is_copy(scheduler);
}

VALUE rb_uw_scheduler_end_loop(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);

    scheduler->closed = true;
    close_loop(scheduler);
    begin_generation(scheduler);
    return Qnil;
}

/*
 * @return [Boolean]
 */
static VALUE scheduler_closed(VALUE self)
{
    return rb_uw_scheduler_get(self)->closed ? Qtrue : Qfalse;
}

/*
 * What there is now: fibers started and not ended, fibers waiting, operations of the kernel, timers; and turns of the
 * loop so far.
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
        if (!uw_list_empty(&uw_owner(link, struct rb_uw_wait, link)->descriptor))
            stats->descriptors++;
}

void rb_uw_schedulers_add_stats(struct rb_uw_stats *stats)
{
    for (struct uw_list *link = opened.next; link != &opened; link = link->next) {
        const struct rb_uw_scheduler *scheduler = uw_owner(link, struct rb_uw_scheduler, opened);

        if (!rb_uw_scheduler_is_copy(scheduler))
            add_stats(scheduler, stats);
    }
}

void rb_uw_init_scheduler(void)
{
    rb_uw_eFiberError = rb_path2class("FiberError");

    /* Document-class: Upwell::Scheduler
     * A fiber scheduler on the event loop: after Fiber.set_scheduler(Upwell::Scheduler.new), whatever blocks in a fiber
     * that Fiber.schedule started lets the other fibers run. */
    cScheduler = rb_define_class_under(rb_mUpwell, "Scheduler", rb_cObject);
    rb_define_alloc_func(cScheduler, scheduler_allocate);
    rb_define_private_method(cScheduler, "choose", scheduler_choose, 1);
    rb_define_method(cScheduler, "backend", scheduler_backend, 0);
    rb_define_method(cScheduler, "closed?", scheduler_closed, 0);
    rb_define_method(cScheduler, "stats", scheduler_stats, 0);

    /* Document-class: Upwell::Scheduler::Stop
     * Raised in the fibers that still wait when their scheduler is interrupted; it ends them without a report. */
    rb_uw_eStop = rb_define_class_under(cScheduler, "Stop", rb_eException);
    rb_uw_init_scheduler_fiber(cScheduler);
    rb_uw_init_scheduler_block(cScheduler);
    rb_uw_init_scheduler_run(cScheduler);
    rb_uw_init_scheduler_time(cScheduler);
    rb_uw_init_scheduler_io(cScheduler);
    rb_uw_init_scheduler_select(cScheduler);
    rb_uw_init_scheduler_process(cScheduler);
    rb_uw_init_scheduler_close(cScheduler);
}
