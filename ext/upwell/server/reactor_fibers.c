/* Mode fibers: the application runs on the thread of the loop, each request on a fiber of a pool, under an
 * Upwell::Scheduler on the same loop. Where a request waits, others run. */
#include "server/reactor_fibers.h"

#include <ruby/fiber/scheduler.h>
#include <unistd.h>

#include "base/module.h"
#include "base/process_exceptions.h"
#include "base/unwinding.h"
#include "rack/async_exceptions.h"
#include "rack/hijack_detach.h"
#include "rack/rack_request.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_run.h"
#include "scheduler/scheduler_wait_record.h"
#include "server/reactor.h"
#include "server/run_queue.h"
#include "server/server_settings.h"
#include "server/thread_raise.h"

#define NO_STACK_NS UW_NS_PER_SECOND /* until it is tried again */
#define BATCH_NS (5 * UW_NS_PER_MS)  /* of requests, before the loop and the waiting fibers run */

struct fibers {
    struct rb_uw_reactor *reactor;
    struct rb_uw_run_queue backlog;
    int64_t batch_began_ns;
    VALUE scheduler, idle;    /* Array of Fiber */
    VALUE starter, starting;  /* the fiber that starts the pool's fibers, and the one being started, or nil */
    bool unstarted;           /* `starting` has not started yet */
    struct uw_timer no_stack; /* until it expires, no more fibers are started */
    size_t fibers, fibers_max;
};

static ID id_aset, id_keys, id_new, id_no_stack;
#if RB_UW_RUBY(3, 2)
static ID id_storage;
#endif
static VALUE cFiber;

/*
 * Fiber.set_scheduler, which closes the current scheduler, but must not close a server's.
 *
 * @return [Object]
 * @raise [Upwell::Error] on the thread of a server in mode fibers
 */
static VALUE set_scheduler(VALUE self, VALUE scheduler)
{
    const struct rb_uw_scheduler *current = rb_uw_scheduler_current();

    (void)self;
    if (current && rb_uw_scheduler_serves(current))
        rb_raise(rb_eUpwellError, "in mode fibers the server's thread keeps its scheduler: set another scheduler in a "
                                  "thread of the application");
    return rb_call_super(1, &scheduler);
}

void rb_uw_init_reactor_fibers(void)
{
    VALUE keeping;

    id_aset = rb_intern("[]=");
    id_keys = rb_intern("keys");
    id_new = rb_intern("new");
    id_no_stack = rb_intern("no_stack");
#if RB_UW_RUBY(3, 2)
    id_storage = rb_intern("storage");
#endif
    cFiber = rb_path2class("Fiber");

    /* Document-module: Upwell::Reactor::Keeping
     * Prepended to the methods of Fiber at load time, since an application may freeze Fiber later. */
    keeping = rb_define_module_under(rb_path2class("Upwell::Reactor"), "Keeping");
    rb_ext_ractor_safe(true); /* where others have schedulers of their own */
    rb_define_method(keeping, "set_scheduler", set_scheduler, 1);
    rb_ext_ractor_safe(false);
    rb_prepend_module(rb_singleton_class(cFiber), keeping);
}

static struct fibers *mode_state(const struct rb_uw_reactor *reactor)
{
    return reactor->mode_state;
}

static void mark(const void *mode_state)
{
    const struct fibers *fibers = mode_state;

    rb_gc_mark_movable(fibers->scheduler);
    rb_gc_mark_movable(fibers->idle);
    rb_gc_mark_movable(fibers->starter);
    rb_gc_mark_movable(fibers->starting);
}

static void compact(void *mode_state)
{
    struct fibers *fibers = mode_state;

    fibers->scheduler = rb_gc_location(fibers->scheduler);
    fibers->idle = rb_gc_location(fibers->idle);
    fibers->starter = rb_gc_location(fibers->starter);
    fibers->starting = rb_gc_location(fibers->starting);
}

static void init(struct rb_uw_reactor *reactor, VALUE settings)
{
    struct fibers *fibers = mode_state(reactor);

    fibers->reactor = reactor;
    fibers->scheduler = fibers->idle = fibers->starter = fibers->starting = Qnil;
    rb_uw_run_queue_init(&fibers->backlog);
    fibers->fibers_max = NUM2SIZET(rb_uw_setting(settings, "fibers_max"));
    RB_OBJ_WRITE(reactor->rack_context.self, &fibers->idle, rb_ary_new());
}

static struct rb_uw_scheduler *scheduler_of(struct rb_uw_reactor *reactor)
{
    return rb_uw_scheduler_use(mode_state(reactor)->scheduler);
}

/* Events, on the loop without the interpreter's lock */

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_delivery *delivery;

    if (event != UW_EVENT_DRAINED) {
        rb_uw_run_queue_add(&mode_state(context)->backlog, request);
        return;
    }
    delivery = rb_uw_rack_request_of(request)->delivery;
    if (delivery->drain)
        rb_uw_wait_end(delivery->drain);
    else /* a thread of the application waits */
        rb_uw_rack_context_tell_changed(delivery->rack_context);
}

/* A fiber of the pool */

struct pooled {
    VALUE fiber, inherited; /* the latter: Fiber[] of the creating fiber, or nil */
};

static VALUE storage_of(VALUE fiber)
{
#if RB_UW_RUBY(3, 2)
    return rb_funcallv(fiber, id_storage, 0, NULL); /* a copy, or nil */
#else
    (void)fiber;
    return Qnil;
#endif
}

static int forget_stored(VALUE key, VALUE value, VALUE unused)
{
    (void)value, (void)unused;
    rb_funcall(cFiber, id_aset, 2, key, Qnil);
    return ST_CONTINUE;
}

static int store(VALUE key, VALUE value, VALUE unused)
{
    (void)unused;
    rb_funcall(cFiber, id_aset, 2, key, value);
    return ST_CONTINUE;
}

static void restore_storage(VALUE fiber, VALUE inherited)
{
    VALUE storage = storage_of(fiber);

    if (!NIL_P(storage))
        rb_hash_foreach(storage, forget_stored, Qnil);
    if (!NIL_P(inherited))
        rb_hash_foreach(inherited, store, Qnil);
}

static int forget_ivar(ID name, VALUE value, st_data_t fiber)
{
    if (!NIL_P(value))
        rb_ivar_set((VALUE)fiber, name, Qnil);
    return ST_CONTINUE;
}

static void forget_locals(VALUE thread)
{
    VALUE keys = rb_funcallv(thread, id_keys, 0, NULL); /* which are the fiber's */

    for (long i = 0; i < RARRAY_LEN(keys); i++)
        rb_thread_local_aset(thread, rb_sym2id(RARRAY_AREF(keys, i)), Qnil);
}

static VALUE transfer(VALUE fiber)
{
    return rb_fiber_transfer(fiber, 0, NULL);
}

/* Ruby considers a fiber resuming if it is inside Fiber#resume, or had no stack for the fiber it resumed. Ruby would
 * then continue the other fiber instead. A transfer to itself makes Ruby check for this and fail. */
static VALUE clean(VALUE argument)
{
    const struct pooled *pooled = (struct pooled *)argument;
    VALUE fiber = pooled->fiber;

    rb_fiber_transfer_kw(fiber, 0, NULL, RB_NO_KEYWORDS);
    restore_storage(fiber, pooled->inherited);
    rb_ivar_foreach(fiber, forget_ivar, (st_data_t)fiber);
    forget_locals(rb_thread_current());
    return Qnil;
}

/* Passes on the exception that ends the fiber (as Fiber#kill does), the thread or the process. Ruby passes the latter
 * two on to the root. */
static void end_pooled(struct rb_uw_reactor *reactor, int state)
{
    mode_state(reactor)->fibers--;
    rb_jump_tag(state);
}

/* Removes the application's leftovers in its fiber before the next request. Returns whether that succeeded. */
static bool cleaned(struct rb_uw_reactor *reactor, const struct pooled *pooled)
{
    int state;

    rb_protect(clean, (VALUE)pooled, &state);
    if (state && rb_uw_ends_thread(rb_errinfo())) /* by a trap handler */
        end_pooled(reactor, state);
    if (state)
        rb_set_errinfo(Qnil); /* frozen, say */
    return !state;
}

static bool batch_is_over(const struct rb_uw_reactor *reactor, int64_t now_ns)
{
    return now_ns - mode_state(reactor)->batch_began_ns >= BATCH_NS;
}

/* Serves requests of the last iterations one after another. Returns whether the fiber can be used again. */
static bool serve_batch(struct rb_uw_reactor *reactor, const struct pooled *pooled)
{
    struct uw_request *request;

    while ((request = rb_uw_run_queue_take(&mode_state(reactor)->backlog))) {
        int state;

        reactor->busy++;
        state = rb_uw_serve_interruptible(reactor, request);
        reactor->busy--;
        if (state)
            end_pooled(reactor, state);
        rb_uw_rack_context_flush_if_late(&reactor->rack_context);
        if (!cleaned(reactor, pooled))
            return false;
        if (batch_is_over(reactor, reactor->rack_context.busy_since_ns)) /* when that request was served */
            return true;
    }
    return true;
}

static VALUE give_way(VALUE reactor)
{
    rb_uw_scheduler_give_way(scheduler_of((struct rb_uw_reactor *)reactor));
    return Qnil;
}

/* Waits for requests. An exception raised into an idle fiber, such as a request's late deadline, ends this fiber alone.
 */
static bool rest(struct rb_uw_reactor *reactor, VALUE fiber)
{
    VALUE error;
    int state;

    rb_ary_push(mode_state(reactor)->idle, fiber);
    rb_protect(give_way, (VALUE)reactor, &state);
    if (!state)
        return true;
    rb_uw_scheduler_note_raiser(reactor->rack_context.scheduler, fiber);
    rb_ary_delete(mode_state(reactor)->idle, fiber);
    error = rb_errinfo();
    if (rb_uw_ends_thread(error))
        end_pooled(reactor, state);
    rb_set_errinfo(Qnil);
    return false;
}

static VALUE run_fiber(RB_BLOCK_CALL_FUNC_ARGLIST(unused, self))
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    VALUE fiber = rb_fiber_current();
    const struct pooled pooled = {.fiber = fiber, .inherited = storage_of(fiber)};

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    mode_state(reactor)->unstarted = false;
    while (serve_batch(reactor, &pooled) && rest(reactor, fiber))
        ;
    mode_state(reactor)->fibers--;
    return Qnil;
}

/* A separate fiber starts the pool's fibers. The root must not: when Ruby has no stack for a fiber that a blocking
 * fiber starts, Ruby treats the thread as non-blocking, and then every request as blocking. */

static VALUE report_no_stack(VALUE self)
{
    return rb_funcall(rb_uw_error_log(), id_no_stack, 2, rb_errinfo(),
                      SIZET2NUM(mode_state(rb_uw_reactor(self))->fibers - 1));
}

static VALUE start_next(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    mode_state(reactor)->unstarted = true;
    reactor->rack_context.scheduler->running = mode_state(reactor)->starting;
    return transfer(mode_state(reactor)->starting);
}

static VALUE start_or_report(VALUE self)
{
    int state;

    rb_protect(start_next, self, &state);
    if (state && (rb_uw_ends_thread(rb_errinfo()) || !mode_state(rb_uw_reactor(self))->unstarted))
        rb_jump_tag(state);
    return state ? report_no_stack(self) : Qnil;
}

static VALUE return_to_root(VALUE self)
{
    return transfer(rb_uw_reactor(self)->rack_context.scheduler->root);
}

static VALUE run_starter(RB_BLOCK_CALL_FUNC_ARGLIST(unused, self))
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    int state = 0;

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    while (!state) {
        if (mode_state(reactor)->unstarted)
            state = rb_uw_protect(return_to_root, self);
        if (!state)
            state = rb_uw_protect(start_or_report, self); /* until another fiber must be started */
    }
    rb_jump_tag(state);
}

/* The root fiber, which runs the loop */

static bool may_start(const struct rb_uw_reactor *reactor)
{
    return mode_state(reactor)->fibers < mode_state(reactor)->fibers_max && !mode_state(reactor)->no_stack.active;
}

static void try_again(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    uw_container_of(timer, struct fibers, no_stack)->reactor->dont_wait = true; /* the iteration ends */
}

/* Starts a fiber. Without a stack for it, requests wait for the existing fibers. */
static void start_fiber(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    RB_OBJ_WRITE(reactor->rack_context.self, &mode_state(reactor)->starting,
                 rb_block_call(cFiber, id_new, 0, NULL, run_fiber, reactor->rack_context.self));
    mode_state(reactor)->fibers++;
    rb_uw_scheduler_start(scheduler, mode_state(reactor)->starter);
    mode_state(reactor)->starting = Qnil;
    if (!mode_state(reactor)->unstarted)
        return;
    mode_state(reactor)->fibers--;
    mode_state(reactor)->no_stack.expire = try_again;
    uw_timer_start(scheduler->loop, &mode_state(reactor)->no_stack, uw_clock_ns() + NO_STACK_NS);
}

static bool can_serve(const struct rb_uw_reactor *reactor)
{
    return mode_state(reactor)->backlog.batch.first &&
           (RARRAY_LEN(mode_state(reactor)->idle) > 0 || may_start(reactor));
}

static void serve_batches(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    rb_uw_run_queue_begin_batch(&mode_state(reactor)->backlog);
    mode_state(reactor)->batch_began_ns = uw_clock_ns();
    while (can_serve(reactor) && !batch_is_over(reactor, uw_clock_ns())) {
        if (RARRAY_LEN(mode_state(reactor)->idle) > 0)
            rb_uw_scheduler_start(scheduler, rb_ary_pop(mode_state(reactor)->idle));
        else
            start_fiber(reactor, scheduler);
    }
    rb_uw_run_queue_end_batch(&mode_state(reactor)->backlog);
}

static void turn(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    rb_uw_run_queue_end_batch(&mode_state(reactor)->backlog); /* if it was left */
    reactor->dont_wait = rb_uw_scheduler_begin_turn(scheduler) || rb_uw_scheduler_brought(scheduler) ||
                         mode_state(reactor)->backlog.ready.first || can_serve(reactor);
    rb_uw_reactor_turn(reactor);
    rb_uw_scheduler_end_turn(scheduler);
}

static VALUE serve_turn(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_scheduler *scheduler = scheduler_of(reactor);

    turn(reactor, scheduler);
    if (rb_uw_reactor_is_copy(reactor))
        return Qnil;
    if (rb_uw_scheduler_ready(scheduler) || rb_uw_scheduler_brought(scheduler))
        rb_uw_scheduler_run_ready(scheduler);
    serve_batches(reactor, scheduler);
    return Qnil;
}

/* A fiber made by the application may raise anything on the fiber that runs the loop. An exception that arrives between
 * two requests belongs to no request, either. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    RB_OBJ_WRITE(self, &mode_state(reactor)->scheduler, rb_uw_scheduler_new(&reactor->base.server.server_context.loop));
    rb_fiber_scheduler_set(mode_state(reactor)->scheduler);
    reactor->rack_context.scheduler = scheduler_of(reactor);
    RB_OBJ_WRITE(self, &mode_state(reactor)->starter, rb_block_call(cFiber, id_new, 0, NULL, run_starter, self));
    mode_state(reactor)->unstarted = true;
    rb_uw_scheduler_start(reactor->rack_context.scheduler, mode_state(reactor)->starter);
    while (rb_uw_reactor_goes_on(reactor) && !reactor->base.status) {
        int state = rb_uw_protect(serve_turn, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

/* Ends the application's remaining fibers: those of requests past the deadline, and its own. */
static void end_fibers(struct rb_uw_reactor *reactor)
{
    if (NIL_P(mode_state(reactor)->scheduler))
        return;
    rb_uw_reactor_end(reactor); /* threads of the application may wait for clients */
    uw_timer_stop(&reactor->base.server.server_context.loop, &mode_state(reactor)->no_stack);
    rb_uw_scheduler_stop(scheduler_of(reactor));
    rb_fiber_scheduler_set(Qnil);
}

/* A request's calls to the loop */

static VALUE wait_for_drain(VALUE argument)
{
    rb_uw_wait(((struct rb_uw_delivery *)argument)->drain, UW_FOREVER);
    return Qnil;
}

static VALUE forget_drain(VALUE argument)
{
    struct rb_uw_delivery *delivery = (struct rb_uw_delivery *)argument;

    delivery->drain = NULL;
    atomic_store(&delivery->core->await_drain, false);
    return Qnil;
}

static void await_drain(struct rb_uw_delivery *delivery)
{
    struct rb_uw_wait wait;

    rb_uw_wait_init(&wait, scheduler_of(rb_uw_reactor_of(delivery->rack_context)));
    delivery->drain = &wait;
    rb_ensure(wait_for_drain, (VALUE)delivery, forget_drain, (VALUE)delivery);
}

static VALUE wait_for_detach(VALUE argument)
{
    rb_uw_wait((struct rb_uw_wait *)argument, UW_FOREVER);
    return Qnil;
}

/* The loop refers to this stack until the detach is done. Exceptions raised into the fiber meanwhile are raised
 * afterwards. */
static void detach(struct rb_uw_detachment *detachment)
{
    struct rb_uw_wait wait;
    int state = 0, raised;

    detachment->wait = &wait;
    rb_uw_wait_init(&wait, scheduler_of(rb_uw_reactor_of(detachment->rack_context)));
    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done && !rb_uw_rack_context_is_copy(detachment->rack_context)) { /* which may be so at once */
        rb_protect(wait_for_detach, (VALUE)&wait, &raised);
        state = raised ? raised : state;
    }
    uw_list_remove(&wait.ready);
    if (state)
        rb_jump_tag(state);
}

/* Requests may wait, and their responses are sent together: a piece of a longer response is sent with this iteration,
 * or earlier when it has waited for long. */
static void send_together(struct uw_request *request, struct uw_chunk *chunk)
{
    struct rb_uw_rack_context *rack_context = rb_uw_rack_request_of(request)->delivery->rack_context;
    bool last = chunk->flags & UW_CHUNK_FINISH;

    uw_request_send(request, chunk);
    if (!last && rb_uw_rack_context_is_late(rack_context))
        rb_uw_rack_context_flush(rack_context);
}

static bool brought(const struct rb_uw_reactor *reactor)
{
    return mode_state(reactor)->backlog.ready.first ||
           (reactor->rack_context.scheduler && rb_uw_scheduler_brought(reactor->rack_context.scheduler));
}

static size_t fibers(const struct rb_uw_reactor *reactor)
{
    return mode_state(reactor)->fibers;
}

const struct rb_uw_mode rb_uw_mode_fibers = {
    .name = "fibers",
    .calls = {.send = send_together, .await_drain = await_drain, .detach = detach},
    .drains = true,
    .own_bytes = sizeof(struct fibers),
    .init = init,
    .mark = mark,
    .compact = compact,
    .notify = notify,
    .open = rb_uw_reactor_open,
    .run = run,
    .close = end_fibers,
    .brought = brought,
    .fibers = fibers,
};
