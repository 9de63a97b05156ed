/* A scheduler and its loop: their creation and end, and the list of all schedulers. */

#include "scheduler/scheduler.h"

#include <ruby/debug.h>
#include <ruby/fiber/scheduler.h>

#include "base/after_fork.h"
#include "base/module.h"
#include "io/backend.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_fiber_wait.h"

VALUE rb_uw_cScheduler, rb_uw_eStop, rb_uw_eFiberError;
static ID id_alive;
struct uw_list rb_uw_schedulers = {&rb_uw_schedulers, &rb_uw_schedulers};

static void mark_fibers(const struct uw_list *waits)
{
    for (const struct uw_list *link = waits->next; link != waits; link = link->next)
        rb_gc_mark(uw_container_of(link, struct rb_uw_wait, link)->fiber);
}

static void scheduler_mark(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    rb_gc_mark(scheduler->self); /* itself: records point into it */
    rb_gc_mark(scheduler->root); /* compared with addresses on the stacks of fibers */
    rb_gc_mark_movable(scheduler->backend);
    rb_gc_mark_movable(scheduler->thread);
    rb_gc_mark_movable(scheduler->early);
    rb_gc_mark(scheduler->running); /* compared with addresses, too */
    rb_gc_mark_movable(scheduler->left);
    rb_gc_mark_movable(scheduler->interrupts);
    rb_gc_mark_movable(scheduler->deferred);
    rb_gc_mark_movable(scheduler->error);
    rb_gc_mark_movable(scheduler->body);
    rb_gc_mark_movable(scheduler->block);
    mark_fibers(&scheduler->waits);
    mark_fibers(&scheduler->sleeping);
    rb_uw_scheduler_mark_closed_io(scheduler);
}

static void scheduler_compact(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    scheduler->backend = rb_gc_location(scheduler->backend);
    scheduler->thread = rb_gc_location(scheduler->thread);
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
    scheduler->thread = rb_thread_current();
    scheduler->forks = atomic_load(&rb_uw_forks);
    uw_list_append(&rb_uw_schedulers, &scheduler->opened);
}

/* Operations pending on a server's loop need their retained objects until that loop is closed, which the server does.
 */
static void close_loop(struct rb_uw_scheduler *scheduler, bool in_collection)
{
    uw_list_remove(&scheduler->opened);
    if (scheduler->loop == &scheduler->own)
        uw_loop_close(scheduler->loop);
    if (scheduler->loop == &scheduler->own || rb_uw_scheduler_is_copy(scheduler))
        rb_uw_scheduler_release_closed_io(scheduler, in_collection);
    scheduler->loop = NULL;
}

static void scheduler_free(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    close_loop(scheduler, true);
    st_free_table(scheduler->blocked);
    xfree(scheduler);
}

static size_t scheduler_memsize(const void *data)
{
    const struct rb_uw_scheduler *scheduler = data;

    return sizeof *scheduler + st_memsize(scheduler->blocked);
}

/* The type has no write barriers: records come and go with every wait, and each collection walks through the list. */
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

/* Records of earlier loops are void from here on. */
static void begin_generation(struct rb_uw_scheduler *scheduler)
{
    scheduler->generation++;
    scheduler->root = scheduler->running = Qnil;
    scheduler->root_waits = scheduler->root_wanted = scheduler->relays = scheduler->turning = scheduler->interrupted =
        false;
    scheduler->waiting = scheduler->selected = 0;
    uw_list_init(&scheduler->waits);
    uw_list_init(&scheduler->sleeping);
    uw_list_init(&scheduler->ready);
    uw_list_init(&scheduler->batch);
    uw_list_init(&scheduler->due);
    scheduler->begun = NULL;
    scheduler->due_had_turn = false;
    uw_list_init(&scheduler->starters);
    uw_list_init(&scheduler->unblocked);
    uw_list_init(&scheduler->cut_off);
    uw_list_init(&scheduler->timeouts);
    for (size_t i = 0; i < RB_UW_DESCRIPTOR_BUCKETS; i++)
        uw_list_init(&scheduler->descriptors[i]);
    st_clear(scheduler->blocked);
}

/* In a child process, the fibers in these lists belong to the parent. */
static void forget_fibers(struct rb_uw_scheduler *scheduler)
{
    rb_ary_clear(scheduler->early);
    rb_ary_clear(scheduler->left);
    rb_ary_clear(scheduler->interrupts);
    rb_ary_clear(scheduler->deferred);
    scheduler->error = Qnil;
    scheduler->fibers = 0;
}

static VALUE scheduler_allocate(VALUE class)
{
    st_table *blocked = st_init_numtable();
    struct rb_uw_scheduler *scheduler;
    VALUE self = TypedData_Make_Struct(class, struct rb_uw_scheduler, &scheduler_type, scheduler);

    scheduler->blocked = blocked;
    scheduler->self = self;
    uw_list_init(&scheduler->opened);
    uw_list_init(&scheduler->closed_io_users);
    scheduler->thread = scheduler->backend = scheduler->early = scheduler->left = scheduler->interrupts =
        scheduler->error = Qnil;
    scheduler->deferred = scheduler->body = scheduler->block = Qnil;
    begin_generation(scheduler);
    scheduler->early = rb_ary_new();
    scheduler->left = rb_ary_new();
    scheduler->interrupts = rb_ary_new();
    scheduler->deferred = rb_ary_new();
    return self;
}

VALUE rb_uw_scheduler_new(struct uw_loop *loop)
{
    VALUE options = rb_hash_new(), self;
    struct rb_uw_scheduler *scheduler;

    rb_hash_aset(options, ID2SYM(rb_intern("backend")), rb_str_new_cstr(loop->backend->name));
    self = rb_class_new_instance_kw(1, &options, rb_uw_cScheduler, RB_PASS_KEYWORDS);
    scheduler = rb_uw_scheduler_get(self);
    take_loop(scheduler, loop);
    return self;
}

/* The first use opens the loop, since a loop belongs to the thread that opens it. The child of a fork opens its own
 * loop instead of its parent's. */
static void open_loop(struct rb_uw_scheduler *scheduler)
{
    int error;

    if (scheduler->closed)
        rb_raise(rb_eUpwellError, "this scheduler is closed: set a new one with Fiber.set_scheduler");
    if (scheduler->loop) {
        close_loop(scheduler, false);
        begin_generation(scheduler);
        forget_fibers(scheduler);
    }
    rb_uw_schedulers_end_lost();
    error = uw_loop_open(&scheduler->own, StringValueCStr(scheduler->backend), NULL);
    if (error)
        rb_syserr_fail(-error, "cannot open the event loop of a fiber scheduler");
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
    if (rb_uw_scheduler_is_copy(scheduler))
        forget_fibers(scheduler);
    close_loop(scheduler, false);
    begin_generation(scheduler);
    rb_funcall(self, rb_intern("end_workers"), 0);
    return Qnil;
}

/* Thread#alive? lets no other thread run: the list does not change. */
static struct rb_uw_scheduler *first_lost(void)
{
    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next) {
        struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (!rb_uw_scheduler_is_copy(scheduler) && !RTEST(rb_funcall(scheduler->thread, id_alive, 0)))
            return scheduler;
    }
    return NULL;
}

void rb_uw_schedulers_end_lost(void)
{
    struct rb_uw_scheduler *lost;

    while ((lost = first_lost()))
        rb_uw_scheduler_end_loop(lost->self);
}

/* Schedulers of ended threads have descriptors whose peers wait for the end. Where Ruby does not close such schedulers,
 * each collection starts a search for them. */
#if !RB_UW_RUBY(3, 2)

static VALUE end_lost(void *unused)
{
    (void)unused;
    rb_uw_schedulers_end_lost();
    return Qnil;
}

static VALUE have_lost_ended(VALUE unused)
{
    if (first_lost())
        rb_thread_create(end_lost, NULL);
    return unused;
}

/* Runs on any thread. Exceptions that others raise into that thread must not be raised here, as they would be in a Ruby
 * method. */
static void have_lost_ended_protected(void *unused)
{
    VALUE error = rb_errinfo();
    int ignored;

    (void)unused;
    rb_protect(have_lost_ended, Qnil, &ignored);
    rb_set_errinfo(error);
}

static void look_for_lost(void)
{
    (void)rb_postponed_job_register_one(0, have_lost_ended_protected, NULL);
}

#else

static void look_for_lost(void)
{
}

#endif

/* Whether stacks of fibers contain records. */
static bool is_in_use(const struct rb_uw_scheduler *scheduler)
{
    return scheduler->waiting > 0 || scheduler->loop->timers.count > 0 || !uw_list_empty(&scheduler->closed_io_users);
}

static void mark_schedulers(void *schedulers)
{
    const struct uw_list *list = schedulers;

    for (const struct uw_list *link = list->next; link != list; link = link->next) {
        const struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (!rb_uw_scheduler_is_copy(scheduler) && is_in_use(scheduler))
            rb_gc_mark(scheduler->self);
    }
    if (!uw_list_empty(list))
        look_for_lost();
}

static const rb_data_type_t schedulers_type = {
    .wrap_struct_name = "Upwell::Schedulers",
    .function = {.dmark = mark_schedulers},
};

void rb_uw_init_scheduler_object(void)
{
    id_alive = rb_intern("alive?");
    rb_gc_register_mark_object(TypedData_Wrap_Struct(0, &schedulers_type, &rb_uw_schedulers));
    rb_uw_eFiberError = rb_path2class("FiberError");

    /* Document-class: Upwell::Scheduler
     * A fiber scheduler on the event loop: after Fiber.set_scheduler(Upwell::Scheduler.new), a blocking call in a fiber
     * of Fiber.schedule lets the other fibers run. */
    rb_uw_cScheduler = rb_define_class_under(rb_mUpwell, "Scheduler", rb_cObject);
    rb_define_alloc_func(rb_uw_cScheduler, scheduler_allocate);

    /* Document-class: Upwell::Scheduler::Stop
     * Raised in the fibers that still wait when their scheduler is interrupted; it ends them without a report. */
    rb_uw_eStop = rb_define_class_under(rb_uw_cScheduler, "Stop", rb_eException);
}
