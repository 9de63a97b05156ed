/* Upwell::Reactor: a server of the core that answers with a Rack application. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/forks.h"
#include "scheduler/scheduler.h"
#include "server/reactor.h"

#define FLUSH_NS UW_NS_PER_MS /* a response waits for others of its turn no longer than this */

#define PUSH_NS (20 * UW_NS_PER_MS) /* for a client that takes whatever is sent: others want the loop, too */

static ID id_fileno;
static VALUE cReactor;

/* Nobody else may refer to a fiber that waits for nothing of ours, and its stack holds an exchange. A copy serves none:
 * other threads' stacks are gone there. */
static void mark_serving(const struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        return;
    for (const struct uw_list *link = reactor->serving.next; link != &reactor->serving; link = link->next)
        rb_gc_mark(uw_owner(link, struct rb_uw_exchange, link)->fiber);
}

static void reactor_mark(void *data)
{
    struct rb_uw_reactor *reactor = data;

    rb_gc_mark_movable(reactor->app);
    rb_gc_mark_movable(reactor->backend);
    rb_gc_mark_movable(reactor->sockets);
    rb_gc_mark_movable(reactor->root);
    rb_gc_mark_movable(reactor->scheduler);
    rb_gc_mark_movable(reactor->idle);
    rb_gc_mark_movable(reactor->starter);
    rb_gc_mark_movable(reactor->starting);
    rb_gc_mark_movable(reactor->template);
    rb_gc_mark_movable(reactor->input);
    rb_gc_mark_movable(reactor->host);
    rb_gc_mark_movable(reactor->remote_addr);
    rb_gc_mark_movable(reactor->remote_ports);
    mark_serving(reactor);
    rb_gc_mark(reactor->self); /* itself: it must not move, since exchanges and the core point into it */
}

static void reactor_compact(void *data)
{
    struct rb_uw_reactor *reactor = data;

    reactor->app = rb_gc_location(reactor->app);
    reactor->backend = rb_gc_location(reactor->backend);
    reactor->sockets = rb_gc_location(reactor->sockets);
    reactor->root = rb_gc_location(reactor->root);
    reactor->scheduler = rb_gc_location(reactor->scheduler);
    reactor->idle = rb_gc_location(reactor->idle);
    reactor->starter = rb_gc_location(reactor->starter);
    reactor->starting = rb_gc_location(reactor->starting);
    reactor->template = rb_gc_location(reactor->template);
    reactor->input = rb_gc_location(reactor->input);
    reactor->host = rb_gc_location(reactor->host);
    reactor->remote_addr = rb_gc_location(reactor->remote_addr);
    reactor->remote_ports = rb_gc_location(reactor->remote_ports);
}

bool rb_uw_reactor_is_copy(const struct rb_uw_reactor *reactor)
{
    return rb_uw_forked_since(reactor->forks);
}

/* The C library waits until nobody waits for what is to be destroyed: in the copy for ever. */
static void free_locks(struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        return;
    uw_queue_free(&reactor->queue);
    pthread_cond_destroy(&reactor->changed);
    pthread_mutex_destroy(&reactor->lock);
}

static void reactor_free(void *data)
{
    struct rb_uw_reactor *reactor = data;

    rb_uw_static_settings_free(&reactor->public_settings);
    free_locks(reactor);
    xfree(reactor);
}

static size_t reactor_memsize(const void *data)
{
    const struct rb_uw_reactor *reactor = data;

    return sizeof *reactor + rb_uw_static_settings_bytes(&reactor->public_settings) +
           reactor->server.service.connections.blocks * reactor->server.service.connections.block_bytes +
           reactor->server.service.requests.blocks * reactor->server.service.requests.block_bytes;
}

static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Upwell::Reactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_memsize, .dcompact = reactor_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct rb_uw_reactor *rb_uw_reactor(VALUE self)
{
    struct rb_uw_reactor *reactor;

    TypedData_Get_Struct(self, struct rb_uw_reactor, &reactor_type, reactor);
    return reactor;
}

static void init_locks(struct rb_uw_reactor *reactor)
{
    if (uw_queue_init(&reactor->queue) || pthread_mutex_init(&reactor->lock, NULL) ||
        pthread_cond_init(&reactor->changed, NULL))
        rb_memerror();
}

static VALUE reactor_allocate(VALUE class)
{
    struct rb_uw_reactor *reactor;
    VALUE self = TypedData_Make_Struct(class, struct rb_uw_reactor, &reactor_type, reactor);

    init_locks(reactor);
    reactor->forks = atomic_load(&rb_uw_forks);
    reactor->self = self;
    reactor->app = reactor->backend = reactor->root = reactor->template = reactor->input = Qnil;
    reactor->host = reactor->remote_addr = reactor->remote_ports = Qnil;
    reactor->scheduler = reactor->idle = reactor->starter = reactor->starting = Qnil;
    reactor->ready.last = &reactor->ready.first;
    reactor->batch.last = &reactor->batch.first;
    uw_list_init(&reactor->serving);
    RB_OBJ_WRITE(self, &reactor->sockets, rb_ary_new());
    RB_OBJ_WRITE(self, &reactor->idle, rb_ary_new());
    RB_OBJ_WRITE(self, &reactor->host, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &reactor->remote_addr, rb_str_new(NULL, 0));
    RB_OBJ_WRITE(self, &reactor->remote_ports, rb_ary_new());
    return self;
}

/* Settings */

static const struct rb_uw_mode *const modes[] = {&rb_uw_mode_fibers, &rb_uw_mode_inline, &rb_uw_mode_threads};

static const struct rb_uw_mode *read_mode(VALUE settings)
{
    VALUE mode = rb_uw_setting(settings, "mode");

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (mode == ID2SYM(rb_intern(modes[i]->name)))
            return modes[i];
    rb_raise(rb_eArgError, "mode must be :fibers, :inline or :threads, not %+" PRIsVALUE, mode);
}

static void read_public(struct rb_uw_reactor *reactor, VALUE settings)
{
    if (!NIL_P(settings))
        rb_uw_static_settings_read(&reactor->public_settings, rb_uw_setting(settings, "root"), settings);
}

/*
 * @param app [#call] a Rack application
 * @param settings [Hash{Symbol => Object}] mode (:fibers, :inline or :threads), fibers_max, backend (String or nil),
 * the limits head_bytes_max, headers_max, target_bytes_max, body_bytes_max, body_memory_bytes_max, connections_max; the
 * time-outs in seconds head_timeout, body_timeout, keep_alive_timeout, write_timeout; newline_header_values (true for
 * Rack 2); public (nil, or a Hash of root and what {StaticReactor} needs to serve files): the folder whose files are
 * sent without asking the application
 * @raise [KeyError] when a setting is missing
 * @raise [ArgumentError] when one is out of range
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE reactor_initialize(VALUE self, VALUE app, VALUE settings)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    rb_uw_read_server_settings(&reactor->settings, settings);
    reactor->mode = read_mode(settings);
    reactor->fibers_max = NUM2SIZET(rb_uw_setting(settings, "fibers_max"));
    reactor->newline_values = RTEST(rb_uw_setting(settings, "newline_header_values"));
    read_public(reactor, rb_uw_setting(settings, "public"));
    RB_OBJ_WRITE(self, &reactor->app, app);
    RB_OBJ_WRITE(self, &reactor->backend, rb_str_freeze(rb_uw_choose_backend(rb_uw_setting(settings, "backend"))));
    RB_OBJ_WRITE(self, &reactor->input, rb_uw_input_empty());
    RB_OBJ_WRITE(self, &reactor->template, rb_uw_env_template(reactor->newline_values, reactor->input));
    return self;
}

/*
 * Serves what connects to a listening socket, once #run is called. The socket is not closed.
 *
 * @param socket [TCPServer, UNIXServer, Socket]
 * @return [self]
 * @raise [ArgumentError] when there are too many
 */
static VALUE reactor_listen(VALUE self, VALUE socket)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    if (RARRAY_LEN(reactor->sockets) >= UW_LISTENERS_MAX)
        rb_raise(rb_eArgError, "a reactor listens on at most %d sockets", UW_LISTENERS_MAX);
    rb_ary_push(reactor->sockets, socket);
    return self;
}

/* Requests that wait for the application */

void rb_uw_reactor_enqueue(void *context, struct uw_request *request)
{
    struct rb_uw_requests *ready = &((struct rb_uw_reactor *)context)->ready;

    request->next = NULL;
    *ready->last = request;
    ready->last = &request->next;
}

void rb_uw_reactor_begin_batch(struct rb_uw_reactor *reactor)
{
    if (!reactor->ready.first)
        return;
    *reactor->batch.last = reactor->ready.first;
    reactor->batch.last = reactor->ready.last;
    reactor->ready = (struct rb_uw_requests){NULL, &reactor->ready.first};
}

struct uw_request *rb_uw_reactor_take(struct rb_uw_reactor *reactor)
{
    struct uw_request *request = reactor->batch.first;

    if (!request)
        return NULL;
    reactor->batch.first = request->next;
    if (!reactor->batch.first)
        reactor->batch.last = &reactor->batch.first;
    return request;
}

void rb_uw_reactor_flush_if_late(struct rb_uw_reactor *reactor)
{
    int64_t now_ns = uw_clock_ns();

    reactor->busy_since_ns = now_ns;
    if (now_ns - reactor->flushed_ns < FLUSH_NS)
        return;
    uw_server_flush(&reactor->server);
    reactor->flushed_ns = now_ns;
}

/* What is sent by a connection after something else has to wait for the end of that, which a turn finds out: it also
 * finds out who has gone. */
static void turn_and_flush(struct rb_uw_reactor *reactor)
{
    (void)uw_server_turn(&reactor->server, 0);
    uw_loop_flush(&reactor->server.service.loop);
    reactor->busy_since_ns = reactor->flushed_ns = uw_clock_ns();
}

/* Where the loop has a thread of its own, that does so in its own time. */
static bool turns_here(const struct rb_uw_reactor *reactor)
{
    return pthread_equal(pthread_self(), reactor->thread) && !rb_uw_reactor_is_copy(reactor);
}

bool rb_uw_reactor_give_up(struct rb_uw_reactor *reactor)
{
    return turns_here(reactor) && uw_service_give_up(&reactor->server.service);
}

void rb_uw_reactor_flush(struct rb_uw_reactor *reactor)
{
    if (turns_here(reactor))
        turn_and_flush(reactor);
}

static bool is_late(const struct rb_uw_reactor *reactor)
{
    return uw_clock_ns() - reactor->flushed_ns >= FLUSH_NS;
}

void rb_uw_reactor_send(struct uw_request *request, struct uw_chunk *chunk)
{
    struct rb_uw_reactor *reactor = request->service->handler.context;
    bool last = chunk->flags & UW_CHUNK_FINISH;

    uw_request_send(request, chunk);
    if (!last && is_late(reactor))
        turn_and_flush(reactor);
}

void rb_uw_reactor_tell_changed(struct rb_uw_reactor *reactor)
{
    pthread_mutex_lock(&reactor->lock);
    pthread_cond_broadcast(&reactor->changed);
    pthread_mutex_unlock(&reactor->lock);
}

void rb_uw_reactor_end(struct rb_uw_reactor *reactor)
{
    pthread_mutex_lock(&reactor->lock);
    atomic_store(&reactor->ended, true);
    pthread_mutex_unlock(&reactor->lock);
    if (reactor->control.open)
        uw_server_stop(&reactor->server);
    rb_uw_reactor_tell_changed(reactor);
}

/* Opening, turning, closing: on the thread of the loop, without the interpreter's lock. */

int rb_uw_reactor_open(struct rb_uw_reactor *reactor, const char *backend, const int *fds, long count)
{
    int error = uw_server_open(&reactor->server, &reactor->settings, backend, rb_uw_reactor_handler(reactor));

    if (error)
        return error;
    uw_refusal_log_init(&reactor->refusals, &reactor->server.service.loop, STDERR_FILENO);
    rb_uw_control_open(&reactor->control);
    reactor->thread = pthread_self();
    for (long i = 0; i < count && !error; i++)
        error = uw_server_listen(&reactor->server, fds[i]);
    return error;
}

/* Whether a fiber that has answered, and so has no connection any more, is still to be waited for. */
static bool ends_requests(struct rb_uw_reactor *reactor)
{
    return reactor->mode == &rb_uw_mode_fibers && reactor->ending > 0 && rb_uw_control_drains(&reactor->control);
}

bool rb_uw_reactor_goes_on(struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        return false;
    return rb_uw_control_goes_on(&reactor->control, &reactor->server) || ends_requests(reactor);
}

static int64_t turn_wait(struct rb_uw_reactor *reactor)
{
    return reactor->hurry ? 0 : rb_uw_control_wait_ns(&reactor->control);
}

/* Whether there is something for the application to do. */
static bool brought(const struct rb_uw_reactor *reactor)
{
    return reactor->ready.first || (reactor->fiber_scheduler && rb_uw_scheduler_brought(reactor->fiber_scheduler));
}

void *rb_uw_reactor_turns(void *argument)
{
    struct rb_uw_reactor *reactor = argument;
    uint64_t wakes = reactor->server.service.loop.wakes;
    bool goes_on = rb_uw_reactor_goes_on(reactor);

    while (goes_on) {
        reactor->status = uw_server_turn(&reactor->server, turn_wait(reactor));
        goes_on = !reactor->hurry && !reactor->status && !brought(reactor) &&
                  reactor->server.service.loop.wakes == wakes && rb_uw_reactor_goes_on(reactor);
    }
    if (reactor->has_files && !rb_uw_reactor_is_copy(reactor))
        uw_loop_flush(&reactor->server.service.loop); /* files do not wait for the application */
    return NULL;
}

void rb_uw_reactor_wake(void *argument)
{
    struct rb_uw_reactor *reactor = argument;

    uw_loop_wake(&reactor->server.service.loop);
}

/* A worker that is still within the application may use its request for as long as the process lives: then nothing is
 * freed. A trap handler may have forked, and its child comes by here: what it has is its parent's. */
static VALUE close_server(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    if (rb_uw_reactor_is_copy(reactor)) {
        reactor->finished = true;
        return Qnil;
    }
    reactor->mode->close(reactor);
    reactor->finished = uw_server_connections(&reactor->server) == 0;
    reactor->control.open = false;
    rb_uw_reactor_stop_files(reactor);
    if (atomic_load(&reactor->busy) == 0 && !reactor->queue.first) {
        uw_server_close(&reactor->server);
        rb_uw_reactor_close_files(reactor);
    } else {
        uw_server_end_connections(&reactor->server);
    }
    return Qnil;
}

static VALUE run_guarded(VALUE self)
{
    rb_uw_guard_thread(self);
    return rb_uw_reactor(self)->mode->run(self);
}

static VALUE unguard(VALUE unused)
{
    rb_uw_unguard_thread();
    return unused;
}

static VALUE close_guarded(VALUE self)
{
    return rb_ensure(close_server, self, unguard, Qnil);
}

static void start(struct rb_uw_reactor *reactor)
{
    int fds[UW_LISTENERS_MAX], error;
    long count = RARRAY_LEN(reactor->sockets);

    rb_uw_reactor_open_files(reactor);
    for (long i = 0; i < count; i++)
        fds[i] = NUM2INT(rb_funcall(RARRAY_AREF(reactor->sockets, i), id_fileno, 0));
    error = reactor->mode->open(reactor, StringValueCStr(reactor->backend), fds, count);
    if (!error)
        return;
    if (reactor->control.open)
        close_server(reactor->self);
    else
        rb_uw_reactor_close_files(reactor);
    rb_syserr_fail(-error, "starting the event loop");
}

/*
 * Serves until #drain or #stop; in mode :inline the application runs on the calling thread, which must be on its first
 * fiber.
 *
 * @return [Boolean] whether everything in flight was finished
 * @raise [SystemCallError] when the loop cannot be opened, or fails
 * @raise [Upwell::Error] when it runs already
 */
static VALUE reactor_run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    if (reactor->ran)
        rb_raise(rb_eUpwellError, "a reactor runs once: make a new one");
    reactor->ran = true;
    reactor->forks = atomic_load(&rb_uw_forks);
    RB_OBJ_WRITE(self, &reactor->root, rb_fiber_current());
    start(reactor);
    rb_ensure(run_guarded, self, close_guarded, self);
    if (reactor->status)
        rb_syserr_fail(-reactor->status, "waiting for events");
    return reactor->finished ? Qtrue : Qfalse;
}

/* What exchanges ask of the reactor, in any mode. The application may do so from threads of its own, too: these wait
 * like workers. */

static const struct rb_uw_mode *mode_here(const struct rb_uw_reactor *reactor)
{
    return pthread_equal(pthread_self(), reactor->thread) ? reactor->mode : &rb_uw_mode_threads;
}

/* What was to be sent is the parent's to send. */
void rb_uw_refuse_copy(const struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        rb_raise(rb_eUpwellError, "this process was forked within a request: only its parent can answer the client");
}

void rb_uw_hand_over(struct rb_uw_exchange *exchange, struct uw_chunk *chunk)
{
    struct rb_uw_reactor *reactor = exchange->reactor;
    struct uw_request *request = exchange->request;

    if (rb_uw_reactor_is_copy(reactor))
        uw_chunk_free(chunk);
    rb_uw_refuse_copy(reactor);
    if (chunk->flags & UW_CHUNK_FINISH) {
        exchange->lost = atomic_load(&request->lost);
        exchange->done = true;
        exchange->request = NULL;
    }
    mode_here(reactor)->send(request, chunk);
}

/* Each turn finds out what has been sent, and sends what comes after that. */
void rb_uw_push(struct rb_uw_exchange *exchange)
{
    int64_t end_ns;
    size_t left, outgoing;

    if (!turns_here(exchange->reactor))
        return;
    end_ns = uw_clock_ns() + PUSH_NS;
    outgoing = uw_request_outgoing(exchange->request);
    do {
        left = outgoing;
        turn_and_flush(exchange->reactor);
        outgoing = uw_request_outgoing(exchange->request);
    } while (outgoing && outgoing < left && exchange->reactor->flushed_ns < end_ns);
}

static void raise_if_lost(const struct rb_uw_exchange *exchange)
{
    if (atomic_load(&exchange->request->lost))
        rb_syserr_fail(EPIPE, "the client is gone");
}

void rb_uw_await_drain(struct rb_uw_exchange *exchange)
{
    rb_uw_refuse_copy(exchange->reactor);
    raise_if_lost(exchange);
    if (!uw_request_await_drain(exchange->request))
        return;
    mode_here(exchange->reactor)->await_drain(exchange);
    raise_if_lost(exchange);
}

void rb_uw_detach_connection(struct rb_uw_detachment *detachment)
{
    rb_uw_refuse_copy(detachment->reactor);
    mode_here(detachment->reactor)->detach(detachment);
}

/*
 * Serves requests on the calling thread, until the reactor has ended. For mode :threads.
 *
 * @return [nil]
 */
static VALUE reactor_work(VALUE self)
{
    rb_uw_reactor_work(rb_uw_reactor(self));
    return Qnil;
}

/* Control and inspection */

/*
 * Accepts no more and finishes every request in flight; then #run returns true. After the deadline it returns false.
 * May be called in a trap handler.
 *
 * @overload drain(seconds, refuses = false)
 *   @param seconds [Numeric]
 *   @param refuses [Boolean] whether the listening sockets end to listen, for whoever has them: who comes is refused,
 *     and who is connected already is served
 * @return [nil]
 */
static VALUE reactor_drain(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    VALUE seconds, refuses;

    rb_scan_args(argc, argv, "11", &seconds, &refuses);
    rb_uw_control_drain(&reactor->control, &reactor->server, NUM2DBL(seconds), RTEST(refuses));
    return Qnil;
}

/*
 * Has #run return at once. May be called in a trap handler.
 *
 * @return [nil]
 */
static VALUE reactor_stop(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    rb_uw_control_stop(&reactor->control, &reactor->server);
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "poll" or "io_uring_sqpoll"
 */
static VALUE reactor_backend(VALUE self)
{
    return rb_uw_reactor(self)->backend;
}

/*
 * For how long the application has had the thread of the loop without letting go of it. May be called by any thread.
 *
 * @return [Float, nil] seconds; nil while the loop waits, and in mode :threads
 */
static VALUE reactor_busy_seconds(VALUE self)
{
    int64_t since_ns = rb_uw_reactor(self)->busy_since_ns;

    return since_ns ? DBL2NUM((double)(uw_clock_ns() - since_ns) / (double)UW_NS_PER_SECOND) : Qnil;
}

/*
 * The requests that the application has now. May be called by any thread.
 *
 * @return [Array<Array(Hash, Thread, Float, Boolean)>] of each its env, the thread that serves it, the seconds since it
 *   began, and whether it has the thread of the loop at this moment, so that every other client waits
 */
static VALUE reactor_requests(VALUE self)
{
    return rb_uw_served_now(rb_uw_reactor(self));
}

static void put(VALUE stats, const char *name, uint64_t number)
{
    rb_hash_aset(stats, ID2SYM(rb_intern(name)), ULL2NUM(number));
}

/*
 * Counts since the start, and what there is now (connections, requests_in_memory, operations, queued). All are 0 while
 * not running.
 *
 * @return [Hash{Symbol => Integer}]
 */
static VALUE reactor_stats(VALUE self)
{
    const struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    const struct uw_server *server = &reactor->server;
    VALUE stats = rb_hash_new();

    put(stats, "connections", reactor->control.open ? uw_server_connections(server) : 0);
    put(stats, "requests_in_memory", reactor->control.open ? server->service.requests.taken : 0);
    put(stats, "operations", reactor->control.open ? server->service.loop.pending : 0);
    put(stats, "queued", reactor->queue.length);
    put(stats, "fibers", reactor->fibers);
    put(stats, "accepted", server->service.counts.accepted);
    put(stats, "requests", server->service.counts.requests);
    put(stats, "refused", server->service.counts.refused);
    put(stats, "timeouts", server->service.counts.timeouts);
    put(stats, "turns", server->service.loop.turns);
    return stats;
}

void rb_uw_init_reactor(void)
{
    id_fileno = rb_intern("fileno");

    /* Document-class: Upwell::Reactor
     * A server of the core with a Rack application, on one loop. */
    cReactor = rb_define_class_under(rb_mUpwell, "Reactor", rb_cObject);
    rb_define_alloc_func(cReactor, reactor_allocate);
    rb_define_method(cReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cReactor, "listen", reactor_listen, 1);
    rb_define_method(cReactor, "run", reactor_run, 0);
    rb_define_method(cReactor, "work", reactor_work, 0);
    rb_define_method(cReactor, "drain", reactor_drain, -1);
    rb_define_method(cReactor, "stop", reactor_stop, 0);
    rb_define_method(cReactor, "backend", reactor_backend, 0);
    rb_define_method(cReactor, "stats", reactor_stats, 0);
    rb_define_method(cReactor, "busy_seconds", reactor_busy_seconds, 0);
    rb_define_method(cReactor, "requests", reactor_requests, 0);
}
