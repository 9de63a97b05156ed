/* Upwell::Scheduler: its loop, the fiber that turns it, and the fibers that go on after a turn. */
#include "scheduler.h"

#include <pthread.h>
#include <ruby/fiber/scheduler.h>
#include <string.h>

#include "io/backend.h"
#include "stats.h"
#include "upwell.h"

#define TURNS_MAX 32             /* that fibers take in a row before the root has its turn */
#define STOP_NS UW_NS_PER_SECOND /* for the `ensure` clauses of fibers that are ended by the scheduler's end */

static VALUE cScheduler, cFiber, cMutex, eFiberError, eStop;
static ID id_report, id_new;
static atomic_uint forks;
static struct uw_list opened = {&opened, &opened}; /* the schedulers that have a loop */

static void scheduler_mark(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    rb_gc_mark(scheduler->self); /* itself: records point into it */
    rb_gc_mark(scheduler->root); /* compared with addresses on the stacks of fibers */
    rb_gc_mark_movable(scheduler->backend);
    rb_gc_mark_movable(scheduler->early);
    rb_gc_mark(scheduler->running); /* likewise */
    rb_gc_mark(scheduler->closing);
    rb_gc_mark_movable(scheduler->left);
    rb_gc_mark_movable(scheduler->interrupts);
    rb_gc_mark_movable(scheduler->error);
    rb_gc_mark_movable(scheduler->body);
    rb_gc_mark_movable(scheduler->block);
    for (struct uw_list *link = scheduler->waits.next; link != &scheduler->waits; link = link->next)
        rb_gc_mark(uw_owner(link, struct rb_uw_wait, link)->fiber);
}

static void scheduler_compact(void *data)
{
    struct rb_uw_scheduler *scheduler = data;

    scheduler->backend = rb_gc_location(scheduler->backend);
    scheduler->early = rb_gc_location(scheduler->early);
    scheduler->left = rb_gc_location(scheduler->left);
    scheduler->interrupts = rb_gc_location(scheduler->interrupts);
    scheduler->error = rb_gc_location(scheduler->error);
    scheduler->body = rb_gc_location(scheduler->body);
    scheduler->block = rb_gc_location(scheduler->block);
}

static void take_loop(struct rb_uw_scheduler *scheduler, struct uw_loop *loop)
{
    scheduler->loop = loop;
    scheduler->forks = atomic_load(&forks);
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

static struct rb_uw_scheduler *get(VALUE self)
{
    struct rb_uw_scheduler *scheduler;

    TypedData_Get_Struct(self, struct rb_uw_scheduler, &scheduler_type, scheduler);
    return scheduler;
}

/* What a loop was told is void from here on. */
static void begin_generation(struct rb_uw_scheduler *scheduler)
{
    scheduler->generation++;
    scheduler->root = scheduler->running = scheduler->closing = Qnil;
    scheduler->root_waits = scheduler->root_wanted = scheduler->relays = scheduler->turning = false;
    scheduler->waiting = 0;
    uw_list_init(&scheduler->waits);
    uw_list_init(&scheduler->ready);
    uw_list_init(&scheduler->batch);
    uw_list_init(&scheduler->starters);
    uw_list_init(&scheduler->unblocked);
    uw_list_init(&scheduler->timeouts);
    for (size_t i = 0; i < RB_UW_DESCRIPTOR_BUCKETS; i++)
        uw_list_init(&scheduler->descriptors[i]);
    st_clear(scheduler->blocked);
}

static VALUE run_fiber(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, self));

static VALUE scheduler_allocate(VALUE class)
{
    st_table *blocked = st_init_numtable();
    struct rb_uw_scheduler *scheduler;
    VALUE self = TypedData_Make_Struct(class, struct rb_uw_scheduler, &scheduler_type, scheduler);

    scheduler->blocked = blocked;
    scheduler->self = self;
    uw_list_init(&scheduler->opened);
    scheduler->backend = scheduler->early = scheduler->left = scheduler->interrupts = scheduler->error = Qnil;
    scheduler->body = scheduler->block = Qnil;
    begin_generation(scheduler);
    scheduler->early = rb_ary_new();
    scheduler->left = rb_ary_new();
    scheduler->interrupts = rb_ary_new();
    scheduler->body = rb_proc_new(run_fiber, self);
    return self;
}

static VALUE scheduler_choose(VALUE self, VALUE backend)
{
    get(self)->backend = rb_str_freeze(rb_uw_choose_backend(backend));
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "poll" or "io_uring_sqpoll"
 */
static VALUE scheduler_backend(VALUE self)
{
    return get(self)->backend;
}

VALUE rb_uw_scheduler_new(struct uw_loop *loop)
{
    VALUE options = rb_hash_new(), self;
    struct rb_uw_scheduler *scheduler;

    rb_hash_aset(options, ID2SYM(rb_intern("backend")), rb_str_new_cstr(loop->backend->name));
    self = rb_class_new_instance_kw(1, &options, cScheduler, RB_PASS_KEYWORDS);
    scheduler = get(self);
    take_loop(scheduler, loop);
    return self;
}

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
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
    struct rb_uw_scheduler *scheduler = get(self);

    if (!scheduler->loop || scheduler->forks != atomic_load_explicit(&forks, memory_order_relaxed))
        open_loop(scheduler);
    return scheduler;
}

struct rb_uw_scheduler *rb_uw_scheduler_current(void)
{
    VALUE scheduler = rb_fiber_scheduler_get();

    return rb_typeddata_is_kind_of(scheduler, &scheduler_type) ? get(scheduler) : NULL;
}

/* The root fiber */

typedef void root_work(struct rb_uw_scheduler *scheduler, VALUE argument);

struct root {
    struct rb_uw_scheduler *scheduler;
    root_work *work;
    VALUE argument, before;
    unsigned generation;
};

static VALUE work_as_root(VALUE argument)
{
    struct root *root = (struct root *)argument;

    root->work(root->scheduler, root->argument);
    return Qnil;
}

static VALUE end_as_root(VALUE argument)
{
    struct root *root = (struct root *)argument;

    root->scheduler->root_waits = root->scheduler->relays = false;
    root->scheduler->root = root->generation == root->scheduler->generation ? root->before : Qnil;
    return Qnil;
}

/* Has the current fiber be the root while `work` runs. A root that waits is the root already: then nobody else is. */
static void as_root(struct rb_uw_scheduler *scheduler, root_work *work, VALUE argument)
{
    struct root root = {scheduler, work, argument, scheduler->root, scheduler->generation};

    scheduler->root = rb_fiber_current();
    rb_ensure(work_as_root, (VALUE)&root, end_as_root, (VALUE)&root);
    RB_GC_GUARD(root.before);
    RB_GC_GUARD(argument);
}

static void transfer_to(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    scheduler->root_waits = true;
    scheduler->running = fiber;
    rb_fiber_transfer(fiber, 0, NULL);
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

/* Lets `fiber` go on until it waits or ends, and then those that started others meanwhile. */
static void transfer(struct rb_uw_scheduler *scheduler, VALUE fiber)
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
    return !uw_list_empty(&scheduler->waits) || RARRAY_LEN(scheduler->left) > 0 ||
           RARRAY_LEN(scheduler->interrupts) > 0;
}

static void end_unblocked(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->unblocked)) {
        struct rb_uw_wait *wait = uw_owner(scheduler->unblocked.next, struct rb_uw_wait, unblocked);

        uw_list_remove(&wait->unblocked);
        rb_uw_wait_end(wait);
    }
}

static void raise_interrupts(struct rb_uw_scheduler *scheduler)
{
    while (RARRAY_LEN(scheduler->interrupts) > 0) {
        VALUE fiber = rb_ary_shift(scheduler->interrupts), exception = rb_ary_shift(scheduler->interrupts);

        if (!RTEST(rb_fiber_alive_p(fiber)))
            continue;
        scheduler->root_waits = true;
        rb_fiber_raise(fiber, 1, &exception);
        scheduler->root_waits = false;
    }
}

static VALUE transfer_to_left(VALUE self)
{
    struct rb_uw_scheduler *scheduler = get(self);

    transfer(scheduler, rb_ary_shift(scheduler->left));
    return Qnil;
}

/* A fiber that has been resumed otherwise meanwhile, or has resumed another, goes on without us. */
static void run_left(struct rb_uw_scheduler *scheduler)
{
    while (RARRAY_LEN(scheduler->left) > 0) {
        int state;

        rb_protect(transfer_to_left, scheduler->self, &state);
        scheduler->root_waits = false;
        if (state && !RTEST(rb_obj_is_kind_of(rb_errinfo(), eFiberError)))
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

static void run_ready(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    (void)unused;
    scheduler->root_wanted = false;
    scheduler->turns_left = TURNS_MAX;
    rb_uw_scheduler_raise_timeouts(scheduler);
    raise_interrupts(scheduler);
    make_batch(scheduler);
    while (!uw_list_empty(&scheduler->batch)) {
        scheduler->relays = true;
        transfer(scheduler, take(scheduler->batch.next));
        scheduler->relays = false;
    }
    rb_uw_scheduler_raise_timeouts(scheduler); /* in those that had to go on first */
    run_left(scheduler);
}

void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler)
{
    as_root(scheduler, run_ready, Qnil);
}

bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler)
{
    if (RARRAY_LEN(scheduler->early) > 0)
        rb_ary_clear(scheduler->early); /* whoever was about to block has done so */
    scheduler->turning = true;
    return rb_uw_scheduler_ready(scheduler);
}

void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler)
{
    scheduler->turning = false;
}

static void turn(struct rb_uw_scheduler *scheduler, int64_t wait_ns)
{
    int status;

    if (rb_uw_scheduler_begin_turn(scheduler))
        wait_ns = 0;
    status = rb_uw_turn(scheduler->loop, wait_ns);
    rb_uw_scheduler_end_turn(scheduler);
    if (wait_ns == 0)
        rb_thread_check_ints();
    if (status)
        rb_syserr_fail(-status, "waiting for events");
}

static void turn_and_run_ready(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    turn(scheduler, UW_FOREVER);
    run_ready(scheduler, unused);
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

    if (next != scheduler->root)
        scheduler->running = next;
    if (next != rb_fiber_current())
        rb_fiber_transfer(next, 0, NULL);
}

/* A fiber that was resumed by the root itself, rather than by its transfer, cannot go back there: it turns the loop. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler)
{
    if (scheduler->root_waits)
        transfer_to_next(scheduler);
    else
        as_root(scheduler, turn_and_run_ready, Qnil);
}

/* Fibers */

static VALUE call_block(VALUE block)
{
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static VALUE report(VALUE pair)
{
    return rb_funcall(RARRAY_AREF(pair, 0), id_report, 1, RARRAY_AREF(pair, 1));
}

/* An error ends its fiber and no other: it is reported now, and raised when all fibers have ended. What ends the
 * process, or the thread, passes on to the root at once. */
static void end_in_error(VALUE self, int state)
{
    VALUE error = rb_errinfo();
    int ignored;

    if (!RTEST(rb_obj_is_kind_of(error, rb_eException)) || RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) ||
        RTEST(rb_obj_is_kind_of(error, rb_eSignal)))
        rb_jump_tag(state);
    rb_set_errinfo(Qnil);
    if (RTEST(rb_obj_is_kind_of(error, eStop)))
        return;
    if (NIL_P(get(self)->error))
        get(self)->error = error;
    rb_protect(report, rb_assoc_new(self, error), &ignored);
    rb_set_errinfo(Qnil);
}

static VALUE run_fiber(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, self))
{
    struct rb_uw_scheduler *scheduler = get(self);
    unsigned generation = scheduler->generation;
    VALUE block = scheduler->block;
    int state;

    (void)yielded, (void)argc, (void)argv, (void)blockarg;
    scheduler->block = Qnil;
    scheduler->fibers++;
    rb_protect(call_block, block, &state);
    if (generation == scheduler->generation) {
        scheduler->fibers--;
        rb_uw_scheduler_note(scheduler, rb_fiber_current());
    }
    if (state)
        end_in_error(self, state);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
    return Qnil;
}

/* All fibers of a scheduler share one Proc, which costs more than the rest of a fiber: it finds its block there. */
static VALUE new_fiber(struct rb_uw_scheduler *scheduler, VALUE options)
{
#if RB_UW_RUBY(3, 2)
    if (!NIL_P(options))
        return rb_funcall_with_block_kw(cFiber, id_new, 1, &options, scheduler->body, RB_PASS_KEYWORDS);
#endif
    (void)options;
    return rb_funcall_with_block(cFiber, id_new, 0, NULL, scheduler->body);
}

void rb_uw_scheduler_start(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (scheduler->root_waits)
        rb_uw_wait_turn(scheduler, fiber);
    else
        as_root(scheduler, transfer, fiber);
}

struct beginning {
    VALUE self, block, fiber;
};

static VALUE begin(VALUE argument)
{
    const struct beginning *beginning = (const struct beginning *)argument;
    struct rb_uw_scheduler *scheduler = get(beginning->self);

    scheduler->block = beginning->block; /* taken as soon as the fiber begins, which is next */
    rb_uw_scheduler_start(scheduler, beginning->fiber);
    return beginning->fiber;
}

/* A FiberError before the fiber has begun: there was no stack for it. It must not be tried again. */
static VALUE raise_without_stack(VALUE argument, VALUE error)
{
    const struct beginning *beginning = (const struct beginning *)argument;
    struct rb_uw_scheduler *scheduler = get(beginning->self);

    if (scheduler->block != beginning->block)
        rb_exc_raise(error); /* it has begun */
    scheduler->block = Qnil;
    for (long i = RARRAY_LEN(scheduler->left) - 1; i >= 0; i--) /* rb_ary_delete would call the block */
        if (RARRAY_AREF(scheduler->left, i) == beginning->fiber)
            rb_ary_delete_at(scheduler->left, i);
    if (scheduler->running == beginning->fiber)
        scheduler->running = Qnil;
    return rb_funcall(beginning->self, rb_intern("raise_without_stack"), 1, error);
}

/*
 * For Fiber.schedule: starts a fiber, which runs until it waits for something.
 *
 * An error that the block does not rescue ends this fiber only. It is reported on $stderr, unless
 * Thread.current.report_on_exception is false, and #run raises the first of them when all fibers have ended.
 *
 * @param storage [Hash, nil, true] as for Fiber.new, since Ruby 3.2
 * @return [Fiber]
 * @raise [Upwell::Error] when the scheduler is closed
 * @raise [FiberError] when there is no memory for its stack, or there are too many: see vm.max_map_count
 */
static VALUE scheduler_fiber(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct beginning beginning = {.self = self};

    if (!rb_block_given_p())
        rb_raise(rb_eArgError, "a block is needed: it is what the fiber runs");
    beginning.fiber = new_fiber(scheduler, rb_keyword_given_p() ? argv[argc - 1] : Qnil);
    beginning.block = rb_block_proc();
    return rb_rescue2(begin, (VALUE)&beginning, raise_without_stack, (VALUE)&beginning, eFiberError, (VALUE)0);
}

/*
 * Lets other fibers that can go on do so first.
 *
 * @return [nil]
 */
static VALUE scheduler_yield(VALUE self)
{
    rb_uw_wait_turn(rb_uw_scheduler_use(self), Qnil);
    return Qnil;
}

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

/* A mutex wakes one of those that wait for it. When an exception takes that one away before it has locked the mutex,
 * the next has to be woken, which Ruby leaves undone. */
static VALUE pass_on(VALUE argument)
{
    const struct blocking *blocking = (const struct blocking *)argument;

    if (!blocking->wait.over || blocking->wait.returned || !RTEST(rb_obj_is_kind_of(blocking->blocker, cMutex)))
        return Qnil;
    if (RTEST(rb_mutex_trylock(blocking->blocker)))
        rb_mutex_unlock(blocking->blocker);
    return Qnil;
}

/*
 * Suspends the current fiber until it is unblocked.
 *
 * @param blocker [Object] what it waits for: a Mutex, a Thread, a Queue
 * @param timeout [Numeric, nil] seconds
 * @return [Boolean] whether it was unblocked before the time was up
 */
static VALUE scheduler_block(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct blocking blocking;

    rb_check_arity(argc, 1, 2);
    blocking.blocker = argv[0];
    blocking.timeout_ns = rb_uw_nanoseconds(argc > 1 ? argv[1] : Qnil);
    rb_uw_wait_init(&blocking.wait, scheduler);
    return rb_ensure(block, (VALUE)&blocking, pass_on, (VALUE)&blocking);
}

static void wake(struct rb_uw_scheduler *scheduler)
{
    if (scheduler->turning)
        uw_loop_wake(scheduler->loop);
}

/*
 * Ends a #block. May be called by any thread.
 *
 * @param blocker [Object] of no importance
 * @param fiber [Fiber]
 * @return [nil]
 */
static VALUE scheduler_unblock(VALUE self, VALUE blocker, VALUE fiber)
{
    struct rb_uw_scheduler *scheduler = get(self);
    struct rb_uw_wait *wait;
    st_data_t record;

    (void)blocker;
    if (!st_lookup(scheduler->blocked, fiber, &record)) {
        if (!scheduler->turning)
            rb_ary_push(scheduler->early, fiber);
        return Qnil;
    }
    wait = (struct rb_uw_wait *)record;
    wait->over = true;
    uw_list_remove(&wait->unblocked);
    uw_list_append(&scheduler->unblocked, &wait->unblocked);
    wake(scheduler);
    return Qnil;
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
    struct rb_uw_scheduler *scheduler = get(self);

    rb_ary_push(scheduler->interrupts, fiber);
    rb_ary_push(scheduler->interrupts, exception);
    wake(scheduler);
    return Qnil;
}

/* Running */

static void run_all(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    while (rb_uw_scheduler_pending(scheduler)) {
        run_ready(scheduler, unused);
        if (rb_uw_scheduler_pending(scheduler))
            turn(scheduler, UW_FOREVER);
    }
}

/* As Thread#join does. */
static void raise_error(struct rb_uw_scheduler *scheduler)
{
    VALUE error = scheduler->error;

    scheduler->error = Qnil;
    if (!NIL_P(error))
        rb_exc_raise(error);
}

/*
 * Runs until no fiber waits any more.
 *
 * @return [nil]
 * @raise [Exception] the first that a fiber did not rescue, when all have ended
 * @raise [Upwell::Error] on one of its own fibers
 * @raise [SystemCallError] when the event loop fails
 */
static VALUE scheduler_run(VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);

    if (scheduler->root_waits)
        rb_raise(rb_eUpwellError, "this scheduler runs already: this is one of its fibers");
    as_root(scheduler, run_all, Qnil);
    raise_error(scheduler);
    RB_GC_GUARD(self);
    return Qnil;
}

/* Closing */

static void raise_stop(struct rb_uw_scheduler *scheduler, VALUE fibers)
{
    for (long i = 0; i < RARRAY_LEN(fibers); i++) {
        VALUE fiber = RARRAY_AREF(fibers, i);

        if (!RTEST(rb_fiber_alive_p(fiber)))
            continue;
        scheduler->root_waits = true;
        rb_fiber_raise(fiber, 1, &eStop);
        scheduler->root_waits = false;
    }
}

static VALUE waiting_fibers(const struct rb_uw_scheduler *scheduler)
{
    VALUE fibers = rb_ary_new();

    for (const struct uw_list *link = scheduler->waits.next; link != &scheduler->waits; link = link->next)
        rb_ary_push(fibers, uw_owner(link, struct rb_uw_wait, link)->fiber);
    return fibers;
}

/* The fibers have STOP_NS for what they ensure. */
static void stop_all(struct rb_uw_scheduler *scheduler, VALUE unused)
{
    int64_t deadline_ns = uw_clock_ns() + STOP_NS, now_ns;

    raise_stop(scheduler, waiting_fibers(scheduler));
    while (rb_uw_scheduler_pending(scheduler) && (now_ns = uw_clock_ns()) < deadline_ns) {
        turn(scheduler, deadline_ns - now_ns);
        run_ready(scheduler, unused);
    }
}

static VALUE stop_fibers(VALUE self)
{
    struct rb_uw_scheduler *scheduler = get(self);

    if (scheduler->loop && rb_uw_scheduler_pending(scheduler))
        as_root(scheduler, stop_all, Qnil);
    return Qnil;
}

static VALUE end_loop(VALUE self)
{
    struct rb_uw_scheduler *scheduler = get(self);

    scheduler->closed = true;
    close_loop(scheduler);
    begin_generation(scheduler);
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
    return rb_ensure(stop_fibers, self, end_loop, self);
}

void rb_uw_scheduler_stop(struct rb_uw_scheduler *scheduler)
{
    end_fibers_and_loop(scheduler->self);
}

/*
 * Runs until no fiber waits any more, and gives the loop back. When that is interrupted, by Ctrl-C for example, or the
 * thread ends in an exception or is killed, the fibers are ended: their `ensure` clauses have a second.
 * Fiber.set_scheduler(nil) and the end of the thread call this.
 *
 * @return [nil]
 * @raise [Exception] what #run raises
 */
static VALUE scheduler_close(VALUE self)
{
    struct rb_uw_scheduler *scheduler = get(self);

    if (scheduler->closed)
        return Qnil;
    if (!scheduler->loop)
        return end_loop(self);
    return rb_ensure(run_if_thread_goes_on, self, end_fibers_and_loop, self);
}

/*
 * @return [Boolean]
 */
static VALUE scheduler_closed(VALUE self)
{
    return get(self)->closed ? Qtrue : Qfalse;
}

static void put(VALUE stats, const char *name, uint64_t number)
{
    rb_hash_aset(stats, ID2SYM(rb_intern(name)), ULL2NUM(number));
}

/*
 * What there is now: fibers started and not ended, fibers waiting, operations of the kernel, timers; and turns of the
 * loop so far.
 *
 * @return [Hash{Symbol => Integer}]
 */
static VALUE scheduler_stats(VALUE self)
{
    const struct rb_uw_scheduler *scheduler = get(self);
    const struct uw_loop *loop = scheduler->loop;
    VALUE stats = rb_hash_new();

    put(stats, "fibers", scheduler->fibers);
    put(stats, "waiting", scheduler->waiting);
    put(stats, "operations", loop ? loop->pending - 1 : 0); /* one is the loop's own */
    put(stats, "timers", loop ? loop->timers.count : 0);
    put(stats, "turns", loop ? loop->turns : 0);
    return stats;
}

static void add_stats(const struct rb_uw_scheduler *scheduler, struct rb_uw_stats *stats)
{
    stats->schedulers++;
    stats->fibers += scheduler->fibers;
    stats->waiting += scheduler->waiting;
    stats->operations += scheduler->loop->pending - 1; /* one is the loop's own */
    stats->timers += scheduler->loop->timers.count;
    for (const struct uw_list *link = scheduler->waits.next; link != &scheduler->waits; link = link->next)
        if (!uw_list_empty(&uw_owner(link, struct rb_uw_wait, link)->descriptor))
            stats->descriptors++;
}

void rb_uw_schedulers_add_stats(struct rb_uw_stats *stats)
{
    for (struct uw_list *link = opened.next; link != &opened; link = link->next) {
        const struct rb_uw_scheduler *scheduler = uw_owner(link, struct rb_uw_scheduler, opened);

        if (scheduler->forks == atomic_load(&forks)) /* else it is the parent's */
            add_stats(scheduler, stats);
    }
}

void rb_uw_init_scheduler(void)
{
    if (pthread_atfork(NULL, NULL, count_fork))
        rb_memerror();
    cFiber = rb_path2class("Fiber");
    cMutex = rb_path2class("Thread::Mutex");
    eFiberError = rb_path2class("FiberError");
    id_report = rb_intern("report");
    id_new = rb_intern("new");

    /* Document-class: Upwell::Scheduler
     * A fiber scheduler on the event loop: after Fiber.set_scheduler(Upwell::Scheduler.new), whatever blocks in a fiber
     * that Fiber.schedule started lets the other fibers run. */
    cScheduler = rb_define_class_under(rb_mUpwell, "Scheduler", rb_cObject);
    rb_define_alloc_func(cScheduler, scheduler_allocate);
    rb_define_private_method(cScheduler, "choose", scheduler_choose, 1);
    rb_define_method(cScheduler, "backend", scheduler_backend, 0);
    rb_define_method(cScheduler, "fiber", scheduler_fiber, -1);
    rb_define_method(cScheduler, "yield", scheduler_yield, 0);
    rb_define_method(cScheduler, "block", scheduler_block, -1);
    rb_define_method(cScheduler, "unblock", scheduler_unblock, 2);
#if RB_UW_RUBY(4, 0)
    rb_define_method(cScheduler, "fiber_interrupt", scheduler_fiber_interrupt, 2);
#else
    (void)scheduler_fiber_interrupt;
#endif
    rb_define_method(cScheduler, "run", scheduler_run, 0);
    rb_define_method(cScheduler, "close", scheduler_close, 0);
    rb_define_method(cScheduler, "closed?", scheduler_closed, 0);
    rb_define_method(cScheduler, "stats", scheduler_stats, 0);

    /* Document-class: Upwell::Scheduler::Stop
     * Raised in the fibers that still wait when their scheduler is interrupted; it ends them without a report. */
    eStop = rb_define_class_under(cScheduler, "Stop", rb_eException);
    rb_uw_init_scheduler_time(cScheduler);
    rb_uw_init_scheduler_io(cScheduler);
    rb_uw_init_scheduler_select(cScheduler);
    rb_uw_init_scheduler_process(cScheduler);
    rb_uw_init_scheduler_close(cScheduler);
}
