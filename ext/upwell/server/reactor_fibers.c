/* Mode fibers: the application runs on the thread of the loop, each request on a fiber of a pool, under an
 * Upwell::Scheduler on the same loop. Where a request waits, others run. */
#include <ruby/fiber/scheduler.h>
#include <unistd.h>

#include "scheduler/scheduler.h"
#include "server/backlog.h"
#include "server/reactor.h"
#include "server/settings.h"

#define NO_STACK_NS UW_NS_PER_SECOND /* until it is tried again */

struct fibers {
    struct rb_uw_reactor *reactor;
    struct rb_uw_backlog backlog;
    VALUE scheduler, idle;    /* Array of Fiber */
    VALUE starter, starting;  /* the fiber that starts those of the pool; which one, or nil */
    bool unstarted;           /* `starting` has not begun yet */
    struct uw_timer no_stack; /* until it expires, no more fibers are started */
    size_t fibers, fibers_max;
};

static ID id_aset, id_keys, id_new, id_no_stack;
#if RB_UW_RUBY(3, 2)
static ID id_storage;
#endif
static VALUE cFiber;

/*
 * Fiber.set_scheduler, which closes the scheduler that there is: not that of a server, under its requests.
 *
 * @return [Object]
 * @raise [Upwell::Error] on the thread of a server in mode fibers
 */
static VALUE set_scheduler(VALUE self, VALUE scheduler)
{
    const struct rb_uw_scheduler *current = rb_uw_scheduler_current();

    (void)self;
    if (current && rb_uw_scheduler_serves(current))
        rb_raise(rb_eUpwellError, "in mode fibers the thread of a server keeps its scheduler: set another in a thread "
                                  "of your own");
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
     * Is prepended to the methods of Fiber itself now: an application may freeze it. */
    keeping = rb_define_module_under(rb_path2class("Upwell::Reactor"), "Keeping");
    rb_ext_ractor_safe(true); /* where others have schedulers of their own */
    rb_define_method(keeping, "set_scheduler", set_scheduler, 1);
    rb_ext_ractor_safe(false);
    rb_prepend_module(rb_singleton_class(cFiber), keeping);
}

static struct fibers *own(const struct rb_uw_reactor *reactor)
{
    return reactor->own;
}

static void mark(const void *own)
{
    const struct fibers *fibers = own;

    rb_gc_mark_movable(fibers->scheduler);
    rb_gc_mark_movable(fibers->idle);
    rb_gc_mark_movable(fibers->starter);
    rb_gc_mark_movable(fibers->starting);
}

static void compact(void *own)
{
    struct fibers *fibers = own;

    fibers->scheduler = rb_gc_location(fibers->scheduler);
    fibers->idle = rb_gc_location(fibers->idle);
    fibers->starter = rb_gc_location(fibers->starter);
    fibers->starting = rb_gc_location(fibers->starting);
}

static void init(struct rb_uw_reactor *reactor, VALUE settings)
{
    struct fibers *fibers = own(reactor);

    fibers->reactor = reactor;
    fibers->scheduler = fibers->idle = fibers->starter = fibers->starting = Qnil;
    rb_uw_backlog_init(&fibers->backlog);
    fibers->fibers_max = NUM2SIZET(rb_uw_setting(settings, "fibers_max"));
    RB_OBJ_WRITE(reactor->host.self, &fibers->idle, rb_ary_new());
}

static struct rb_uw_scheduler *scheduler_of(struct rb_uw_reactor *reactor)
{
    return rb_uw_scheduler_use(own(reactor)->scheduler);
}

/* Events, on the loop without the interpreter's lock */

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_exchange *exchange = request->user;

    if (event != UW_EVENT_DRAINED)
        rb_uw_backlog_add(&own(context)->backlog, request);
    else if (exchange->drain)
        rb_uw_wait_end(exchange->drain);
    else /* a thread of the application waits */
        rb_uw_host_tell_changed(exchange->host);
}

/* A fiber of the pool */

struct pooled {
    VALUE fiber, inherited; /* the latter: Fiber[] of who made it, or nil */
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

/* One that is within Fiber#resume yet, or found no stack for the fiber that it resumed, is taken for resuming by Ruby,
 * which would have the other go on in its place: to transfer to itself, so that Ruby checks, fails. */
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

/* With what is to end the fiber, as Fiber#kill does, or the thread or the process: the latter Ruby passes on to the
 * root. */
static void end_pooled(struct rb_uw_reactor *reactor, int state)
{
    own(reactor)->fibers--;
    rb_jump_tag(state);
}

/* What an application left in its fiber is not for the next request. Returns whether it could be taken away. */
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

/* Serves one request after another, of those that the last turns brought. Returns whether the fiber can be used again.
 */
static bool serve_batch(struct rb_uw_reactor *reactor, const struct pooled *pooled)
{
    struct uw_request *request;

    while ((request = rb_uw_backlog_take(&own(reactor)->backlog))) {
        int state;

        reactor->busy++;
        state = rb_uw_service(reactor, request);
        reactor->busy--;
        if (state)
            end_pooled(reactor, state);
        rb_uw_host_flush_if_late(&reactor->host);
        if (!cleaned(reactor, pooled))
            return false;
    }
    return true;
}

static VALUE give_way(VALUE reactor)
{
    rb_uw_scheduler_give_way(scheduler_of((struct rb_uw_reactor *)reactor));
    return Qnil;
}

/* Waits for requests. What is raised into a fiber that has none, as by a request's deadline that came too late, ends
 * this one, and nothing else. */
static bool rest(struct rb_uw_reactor *reactor, VALUE fiber)
{
    VALUE error;
    int state;

    rb_ary_push(own(reactor)->idle, fiber);
    rb_protect(give_way, (VALUE)reactor, &state);
    if (!state)
        return true;
    rb_uw_scheduler_note_raiser(reactor->host.scheduler, fiber);
    rb_ary_delete(own(reactor)->idle, fiber);
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
    own(reactor)->unstarted = false;
    while (serve_batch(reactor, &pooled) && rest(reactor, fiber))
        ;
    own(reactor)->fibers--;
    return Qnil;
}

/* The fiber that starts those of the pool. The root must not: where Ruby finds no stack for a fiber that a blocking one
 * starts, it takes the thread for non-blocking, and then every request for blocking. */

static VALUE report_no_stack(VALUE self)
{
    return rb_funcall(rb_uw_error_log(), id_no_stack, 2, rb_errinfo(), SIZET2NUM(own(rb_uw_reactor(self))->fibers - 1));
}

static VALUE start_next(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    own(reactor)->unstarted = true;
    reactor->host.scheduler->running = own(reactor)->starting;
    return transfer(own(reactor)->starting);
}

static VALUE start_or_report(VALUE self)
{
    int state;

    rb_protect(start_next, self, &state);
    if (state && (rb_uw_ends_thread(rb_errinfo()) || !own(rb_uw_reactor(self))->unstarted))
        rb_jump_tag(state);
    return state ? report_no_stack(self) : Qnil;
}

static VALUE return_to_root(VALUE self)
{
    return transfer(rb_uw_reactor(self)->host.scheduler->root);
}

static VALUE run_starter(RB_BLOCK_CALL_FUNC_ARGLIST(unused, self))
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    int state = 0;

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    while (!state) {
        if (own(reactor)->unstarted)
            state = rb_uw_protect(return_to_root, self);
        if (!state)
            state = rb_uw_protect(start_or_report, self); /* until there is another one to start */
    }
    rb_jump_tag(state);
}

/* The root fiber, which turns the loop */

static bool may_start(const struct rb_uw_reactor *reactor)
{
    return own(reactor)->fibers < own(reactor)->fibers_max && !own(reactor)->no_stack.active;
}

static void try_again(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    uw_owner(timer, struct fibers, no_stack)->reactor->hurry = true; /* the turn ends */
}

/* Where there is no stack for it, requests wait for the fibers that there are. */
static void start_fiber(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    RB_OBJ_WRITE(reactor->host.self, &own(reactor)->starting,
                 rb_block_call(cFiber, id_new, 0, NULL, run_fiber, reactor->host.self));
    own(reactor)->fibers++;
    rb_uw_scheduler_start(scheduler, own(reactor)->starter);
    own(reactor)->starting = Qnil;
    if (!own(reactor)->unstarted)
        return;
    own(reactor)->fibers--;
    own(reactor)->no_stack.expire = try_again;
    uw_timer_start(scheduler->loop, &own(reactor)->no_stack, uw_clock_ns() + NO_STACK_NS);
}

static bool can_serve(const struct rb_uw_reactor *reactor)
{
    return own(reactor)->backlog.batch.first && (RARRAY_LEN(own(reactor)->idle) > 0 || may_start(reactor));
}

static void serve_batches(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    rb_uw_backlog_begin_batch(&own(reactor)->backlog);
    while (can_serve(reactor)) {
        if (RARRAY_LEN(own(reactor)->idle) > 0)
            rb_uw_scheduler_start(scheduler, rb_ary_pop(own(reactor)->idle));
        else
            start_fiber(reactor, scheduler);
    }
    rb_uw_backlog_end_batch(&own(reactor)->backlog);
}

static void turn(struct rb_uw_reactor *reactor, struct rb_uw_scheduler *scheduler)
{
    rb_uw_backlog_end_batch(&own(reactor)->backlog); /* if it was left */
    reactor->hurry = rb_uw_scheduler_begin_turn(scheduler) || rb_uw_scheduler_brought(scheduler) ||
                     own(reactor)->backlog.ready.first || can_serve(reactor);
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

/* A fiber that the application made by itself may let out anything, on the fiber that turns the loop; where what
 * strikes between two requests is none's, either. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    RB_OBJ_WRITE(self, &own(reactor)->scheduler, rb_uw_scheduler_new(&reactor->base.server.service.loop));
    rb_fiber_scheduler_set(own(reactor)->scheduler);
    reactor->host.scheduler = scheduler_of(reactor);
    RB_OBJ_WRITE(self, &own(reactor)->starter, rb_block_call(cFiber, id_new, 0, NULL, run_starter, self));
    own(reactor)->unstarted = true;
    rb_uw_scheduler_start(reactor->host.scheduler, own(reactor)->starter);
    while (rb_uw_reactor_goes_on(reactor) && !reactor->base.status) {
        int state = rb_uw_protect(serve_turn, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

/* What the application still runs is ended: the fibers of requests that the deadline overtook, and its own. */
static void end_fibers(struct rb_uw_reactor *reactor)
{
    if (NIL_P(own(reactor)->scheduler))
        return;
    rb_uw_reactor_end(reactor); /* threads of the application may wait for clients */
    uw_timer_stop(&reactor->base.server.service.loop, &own(reactor)->no_stack);
    rb_uw_scheduler_stop(scheduler_of(reactor));
    rb_fiber_scheduler_set(Qnil);
}

/* What a request asks of the loop */

static VALUE wait_for_drain(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    rb_uw_wait(exchange->drain, UW_FOREVER);
    return Qnil;
}

static VALUE forget_drain(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    exchange->drain = NULL;
    atomic_store(&exchange->request->await_drain, false);
    return Qnil;
}

static void await_drain(struct rb_uw_exchange *exchange)
{
    struct rb_uw_wait wait;

    rb_uw_wait_init(&wait, scheduler_of(rb_uw_reactor_of(exchange->host)));
    exchange->drain = &wait;
    rb_ensure(wait_for_drain, (VALUE)exchange, forget_drain, (VALUE)exchange);
}

static VALUE wait_for_detach(VALUE argument)
{
    rb_uw_wait((struct rb_uw_wait *)argument, UW_FOREVER);
    return Qnil;
}

/* The loop refers to this stack until it is done: what is raised into the fiber meanwhile is raised then. */
static void detach(struct rb_uw_detachment *detachment)
{
    struct rb_uw_wait wait;
    int state = 0, raised;

    detachment->wait = &wait;
    rb_uw_wait_init(&wait, scheduler_of(rb_uw_reactor_of(detachment->host)));
    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done && !rb_uw_host_is_copy(detachment->host)) { /* which may be so at once */
        rb_protect(wait_for_detach, (VALUE)&wait, &raised);
        state = raised ? raised : state;
    }
    uw_list_remove(&wait.ready);
    if (state)
        rb_jump_tag(state);
}

/* Requests may wait, and others have theirs sent together: a piece of a longer response leaves with this turn, or when
 * it has waited for long. */
static void send_together(struct uw_request *request, struct uw_chunk *chunk)
{
    struct rb_uw_host *host = rb_uw_exchange_of(request)->host;
    bool last = chunk->flags & UW_CHUNK_FINISH;

    uw_request_send(request, chunk);
    if (!last && rb_uw_host_is_late(host))
        rb_uw_host_flush(host);
}

static bool brought(const struct rb_uw_reactor *reactor)
{
    return own(reactor)->backlog.ready.first ||
           (reactor->host.scheduler && rb_uw_scheduler_brought(reactor->host.scheduler));
}

static size_t fibers(const struct rb_uw_reactor *reactor)
{
    return own(reactor)->fibers;
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
