/* Upwell::Reactor: a server of the core that answers with a Rack application, on the thread that runs it or on worker
 * threads. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "upwell.h"

#define FLUSH_NS UW_NS_PER_MS /* a response waits for others of its turn no longer than this */
#define ERROR_BYTES_MAX 512

static ID id_fileno, id_for_fd, id_ungetbyte;
static VALUE cReactor;

static void reactor_mark(void *data)
{
    struct rb_uw_reactor *reactor = data;

    rb_gc_mark_movable(reactor->app);
    rb_gc_mark_movable(reactor->backend);
    rb_gc_mark_movable(reactor->sockets);
    rb_gc_mark_movable(reactor->root);
    rb_gc_mark_movable(reactor->kept);
    rb_gc_mark_movable(reactor->template);
    rb_gc_mark_movable(reactor->host);
    rb_gc_mark_movable(reactor->server_name);
    rb_gc_mark_movable(reactor->server_port);
    rb_gc_mark(reactor->self); /* itself: it must not move, since exchanges and the core point into it */
}

static void reactor_compact(void *data)
{
    struct rb_uw_reactor *reactor = data;

    reactor->app = rb_gc_location(reactor->app);
    reactor->backend = rb_gc_location(reactor->backend);
    reactor->sockets = rb_gc_location(reactor->sockets);
    reactor->root = rb_gc_location(reactor->root);
    reactor->kept = rb_gc_location(reactor->kept);
    reactor->template = rb_gc_location(reactor->template);
    reactor->host = rb_gc_location(reactor->host);
    reactor->server_name = rb_gc_location(reactor->server_name);
    reactor->server_port = rb_gc_location(reactor->server_port);
}

static void reactor_free(void *data)
{
    struct rb_uw_reactor *reactor = data;

    uw_queue_free(&reactor->queue);
    pthread_cond_destroy(&reactor->changed);
    pthread_mutex_destroy(&reactor->lock);
    xfree(reactor);
}

static size_t reactor_memsize(const void *data)
{
    const struct rb_uw_reactor *reactor = data;

    return sizeof *reactor + reactor->server.connections.blocks * reactor->server.connections.block_bytes +
           reactor->server.requests.blocks * reactor->server.requests.block_bytes;
}

static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Upwell::Reactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_memsize, .dcompact = reactor_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct rb_uw_reactor *get(VALUE self)
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
    reactor->self = self;
    reactor->app = reactor->backend = reactor->root = reactor->template = Qnil;
    reactor->server_name = reactor->server_port = Qnil;
    reactor->ready_last = &reactor->ready;
    RB_OBJ_WRITE(self, &reactor->sockets, rb_ary_new());
    RB_OBJ_WRITE(self, &reactor->kept, rb_hash_new());
    RB_OBJ_WRITE(self, &reactor->host, rb_str_new(NULL, 0));
    return self;
}

static VALUE key_of(struct uw_request *request)
{
    return ULL2NUM((uintptr_t)request);
}

void rb_uw_keep(struct rb_uw_reactor *reactor, struct uw_request *request, VALUE object)
{
    rb_hash_aset(reactor->kept, key_of(request), object);
}

VALUE rb_uw_take_kept(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    return rb_hash_delete(reactor->kept, key_of(request));
}

/* Settings */

static VALUE setting(VALUE settings, const char *name)
{
    return rb_hash_fetch(settings, ID2SYM(rb_intern(name)));
}

static int64_t seconds(VALUE settings, const char *name)
{
    double value = NUM2DBL(setting(settings, name));

    if (!(value > 0) || value > 1e9)
        rb_raise(rb_eArgError, "%s must be a number of seconds above 0", name);
    return (int64_t)(value * (double)UW_NS_PER_SECOND);
}

static uint64_t bytes(VALUE settings, const char *name)
{
    return NUM2ULL(setting(settings, name));
}

static void read_limits(struct uw_server_settings *core, VALUE settings)
{
    core->http = (struct uw_http_limits){
        .head_bytes_max = (uint32_t)NUM2UINT(setting(settings, "head_bytes_max")),
        .target_bytes_max = (uint32_t)NUM2UINT(setting(settings, "target_bytes_max")),
        .headers_max = (uint32_t)NUM2UINT(setting(settings, "headers_max")),
    };
    if (core->http.headers_max > UW_HTTP_HEADERS_MAX)
        rb_raise(rb_eArgError, "headers_max must be at most %d", UW_HTTP_HEADERS_MAX);
    core->body_bytes_max = bytes(settings, "body_bytes_max");
    core->body_memory_bytes_max = bytes(settings, "body_memory_bytes_max");
    core->connections_max = bytes(settings, "connections_max");
}

static void read_timeouts(struct uw_server_settings *core, VALUE settings)
{
    core->head_timeout_ns = seconds(settings, "head_timeout");
    core->body_timeout_ns = seconds(settings, "body_timeout");
    core->keep_alive_timeout_ns = seconds(settings, "keep_alive_timeout");
    core->write_timeout_ns = seconds(settings, "write_timeout");
}

static enum rb_uw_mode read_mode(VALUE settings)
{
    VALUE mode = setting(settings, "mode");

    if (mode == ID2SYM(rb_intern("inline")))
        return RB_UW_INLINE;
    if (mode == ID2SYM(rb_intern("threads")))
        return RB_UW_THREADS;
    rb_raise(rb_eArgError, "mode must be :inline or :threads, not %+" PRIsVALUE, mode);
}

/*
 * @param app [#call] a Rack application
 * @param settings [Hash{Symbol => Object}] mode (:inline or :threads), backend (String or nil), the limits
 * head_bytes_max, headers_max, target_bytes_max, body_bytes_max, body_memory_bytes_max, connections_max; the time-outs
 * in seconds head_timeout, body_timeout, keep_alive_timeout, write_timeout; newline_header_values (true for Rack 2)
 * @raise [KeyError] when a setting is missing
 * @raise [ArgumentError] when one is out of range
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE reactor_initialize(VALUE self, VALUE app, VALUE settings)
{
    struct rb_uw_reactor *reactor = get(self);

    Check_Type(settings, T_HASH);
    read_limits(&reactor->settings, settings);
    read_timeouts(&reactor->settings, settings);
    reactor->mode = read_mode(settings);
    reactor->newline_values = RTEST(setting(settings, "newline_header_values"));
    RB_OBJ_WRITE(self, &reactor->app, app);
    RB_OBJ_WRITE(self, &reactor->backend, rb_str_freeze(rb_uw_choose_backend(setting(settings, "backend"))));
    RB_OBJ_WRITE(self, &reactor->template, rb_uw_env_template(reactor->newline_values));
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
    struct rb_uw_reactor *reactor = get(self);

    if (RARRAY_LEN(reactor->sockets) >= UW_LISTENERS_MAX)
        rb_raise(rb_eArgError, "a reactor listens on at most %d sockets", UW_LISTENERS_MAX);
    rb_ary_push(reactor->sockets, socket);
    return self;
}

/* Events of the core */

static void notify_inline(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_reactor *reactor = context;
    bool queued = request->events;

    request->events |= event;
    if (queued)
        return;
    request->next = NULL;
    *reactor->ready_last = request;
    reactor->ready_last = &request->next;
}

static void tell_changed(struct rb_uw_reactor *reactor)
{
    pthread_mutex_lock(&reactor->lock);
    pthread_cond_broadcast(&reactor->changed);
    pthread_mutex_unlock(&reactor->lock);
}

static void notify_threads(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_reactor *reactor = context;

    if (event == UW_EVENT_DRAINED) {
        tell_changed(reactor);
        return;
    }
    request->events = event;
    if (event == UW_EVENT_REQUEST)
        (void)uw_request_remote(request); /* while nobody can close the descriptor */
    uw_queue_push(&reactor->queue, request);
}

/* Opening, turning, closing: on the thread of the loop, without the interpreter's lock. */

static int open_server(struct rb_uw_reactor *reactor, const char *backend, const int *fds, long count)
{
    struct uw_handler handler = {reactor, reactor->mode == RB_UW_INLINE ? notify_inline : notify_threads};
    int error = uw_server_open(&reactor->server, &reactor->settings, backend, handler);

    if (error)
        return error;
    reactor->open = true;
    for (long i = 0; i < count && !error; i++)
        error = uw_server_listen(&reactor->server, fds[i]);
    return error;
}

static void obey(struct rb_uw_reactor *reactor)
{
    if (atomic_load(&reactor->command) == RB_UW_DRAIN && !atomic_load(&reactor->server.draining))
        uw_server_drain(&reactor->server);
}

static bool goes_on(struct rb_uw_reactor *reactor)
{
    int command = atomic_load(&reactor->command);

    if (command == RB_UW_CONTINUE)
        return true;
    return command == RB_UW_DRAIN && uw_server_connections(&reactor->server) > 0 &&
           uw_clock_ns() < atomic_load(&reactor->drain_deadline_ns);
}

static int64_t turn_wait(struct rb_uw_reactor *reactor)
{
    int64_t left_ns;

    if (reactor->ready)
        return 0;
    if (atomic_load(&reactor->command) != RB_UW_DRAIN)
        return UW_FOREVER;
    left_ns = atomic_load(&reactor->drain_deadline_ns) - uw_clock_ns();
    return left_ns > 0 ? left_ns : 0;
}

static void *turn(void *argument)
{
    struct rb_uw_reactor *reactor = argument;

    obey(reactor);
    if (goes_on(reactor))
        reactor->status = uw_server_turn(&reactor->server, turn_wait(reactor));
    return NULL;
}

static void wake(void *argument)
{
    struct rb_uw_reactor *reactor = argument;

    uw_loop_wake(&reactor->server.loop);
}

/* Inline: the loop's thread has the interpreter's lock while it runs the application, once for all requests of a turn.
 */

/* What the application computes for long must not hold back the answers before it. */
static void flush_if_late(struct rb_uw_reactor *reactor)
{
    int64_t now_ns = uw_clock_ns();

    if (now_ns - reactor->flushed_ns < FLUSH_NS)
        return;
    uw_server_flush(&reactor->server);
    reactor->flushed_ns = now_ns;
}

static void resume_kept(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    VALUE fiber = rb_uw_take_kept(reactor, request);

    if (!NIL_P(fiber))
        rb_fiber_transfer(fiber, 0, NULL);
}

static void serve_events(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    unsigned events = request->events;

    request->events = 0;
    if (events & UW_EVENT_REQUEST)
        rb_uw_serve(reactor, request);
    else if (events & UW_EVENT_SENT)
        rb_uw_serve_sent(reactor, request);
    else if (events & UW_EVENT_DRAINED)
        resume_kept(reactor, request);
}

/* Those that were ready when this began: what they make ready has its turn after the loop's. */
static void serve_ready(struct rb_uw_reactor *reactor)
{
    struct uw_request *last = uw_owner(reactor->ready_last, struct uw_request, next), *request;

    reactor->flushed_ns = uw_clock_ns();
    while ((request = reactor->ready)) {
        reactor->ready = request->next;
        if (!reactor->ready)
            reactor->ready_last = &reactor->ready;
        serve_events(reactor, request);
        if (request == last)
            return;
        flush_if_late(reactor);
    }
}

/* Those that wait to write on find the client gone, and unwind. */
static int end_kept(VALUE key, VALUE fiber, VALUE argument)
{
    struct uw_request *request = (struct uw_request *)(uintptr_t)NUM2ULL(key);

    (void)argument;
    if (RTEST(rb_obj_is_fiber(fiber))) {
        atomic_store(&request->lost, true);
        rb_fiber_transfer(fiber, 0, NULL);
    }
    return ST_CONTINUE;
}

static void end_fibers(struct rb_uw_reactor *reactor)
{
    VALUE kept = rb_hash_dup(reactor->kept);

    rb_hash_clear(reactor->kept);
    rb_hash_foreach(kept, end_kept, Qnil);
}

static VALUE run_inline(VALUE self)
{
    struct rb_uw_reactor *reactor = get(self);

    while (goes_on(reactor) && !reactor->status) {
        rb_nogvl(turn, reactor, wake, reactor, RB_NOGVL_UBF_ASYNC_SAFE);
        if (reactor->ready)
            serve_ready(reactor);
    }
    return Qnil;
}

/* Threads: the loop has a thread of its own that never touches Ruby. */

struct start {
    struct rb_uw_reactor *reactor;
    const char *backend;
    const int *fds;
    long count;
};

static void tell_started(struct rb_uw_reactor *reactor, int status)
{
    pthread_mutex_lock(&reactor->lock);
    reactor->status = status;
    reactor->started = true;
    pthread_cond_broadcast(&reactor->changed);
    pthread_mutex_unlock(&reactor->lock);
}

static void *loop_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    struct rb_uw_reactor *reactor = start.reactor;
    int status = open_server(reactor, start.backend, start.fds, start.count);

    tell_started(reactor, status); /* `start` is gone after this */
    while (!status && goes_on(reactor)) {
        turn(reactor);
        status = reactor->status;
    }
    atomic_store(&reactor->ended, true);
    tell_changed(reactor);
    uw_queue_close(&reactor->queue);
    (void)eventfd_write(reactor->ended_fd, 1); /* the counter cannot overflow by one */
    return NULL;
}

/* Ruby's signals are for Ruby's threads. */
static int start_thread(struct rb_uw_reactor *reactor, struct start *start)
{
    sigset_t all, before;
    int error;

    reactor->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reactor->ended_fd < 0)
        return -errno;
    rb_update_max_fd(reactor->ended_fd);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&reactor->thread, NULL, loop_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return -error;
    pthread_mutex_lock(&reactor->lock);
    while (!reactor->started)
        pthread_cond_wait(&reactor->changed, &reactor->lock);
    error = reactor->status;
    pthread_mutex_unlock(&reactor->lock);
    return error;
}

/* Waits as Ruby itself waits for a descriptor: only so does Ruby 3.1 see signals while every other thread is out of its
 * sight. */
static VALUE run_threads(VALUE self)
{
    struct rb_uw_reactor *reactor = get(self);

    while (!atomic_load(&reactor->ended))
        rb_thread_wait_fd(reactor->ended_fd);
    return Qnil;
}

static void join_thread(struct rb_uw_reactor *reactor)
{
    atomic_store(&reactor->command, RB_UW_STOP);
    uw_loop_wake(&reactor->server.loop);
    pthread_join(reactor->thread, NULL);
    close(reactor->ended_fd);
}

/* A worker that is still within the application may use its request for as long as the process lives: then nothing is
 * freed. */
static VALUE close_server(VALUE self)
{
    struct rb_uw_reactor *reactor = get(self);

    if (reactor->mode == RB_UW_THREADS)
        join_thread(reactor);
    else
        end_fibers(reactor);
    reactor->finished = uw_server_connections(&reactor->server) == 0;
    reactor->open = false;
    reactor->ready = NULL;
    reactor->ready_last = &reactor->ready;
    if (atomic_load(&reactor->busy) == 0 && !reactor->queue.first)
        uw_server_close(&reactor->server);
    return Qnil;
}

static void start(struct rb_uw_reactor *reactor)
{
    int fds[UW_LISTENERS_MAX], error;
    struct start start = {reactor, StringValueCStr(reactor->backend), fds, RARRAY_LEN(reactor->sockets)};

    for (long i = 0; i < start.count; i++)
        fds[i] = NUM2INT(rb_funcall(RARRAY_AREF(reactor->sockets, i), id_fileno, 0));
    error = reactor->mode == RB_UW_THREADS ? start_thread(reactor, &start)
                                           : open_server(reactor, start.backend, fds, start.count);
    if (!error)
        return;
    if (reactor->open)
        close_server(reactor->self);
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
    struct rb_uw_reactor *reactor = get(self);

    if (reactor->ran)
        rb_raise(rb_eUpwellError, "a reactor runs once: make a new one");
    reactor->ran = true;
    RB_OBJ_WRITE(self, &reactor->root, rb_fiber_current());
    start(reactor);
    rb_ensure(reactor->mode == RB_UW_THREADS ? run_threads : run_inline, self, close_server, self);
    if (reactor->status)
        rb_syserr_fail(-reactor->status, "waiting for events");
    return reactor->finished ? Qtrue : Qfalse;
}

/* Workers */

struct work {
    struct rb_uw_reactor *reactor;
    struct uw_worker worker;
};

static void *wait_for_work(void *argument)
{
    struct work *work = argument;

    uw_queue_wait(&work->reactor->queue, &work->worker);
    return NULL;
}

static void interrupt_work(void *argument)
{
    struct work *work = argument;

    uw_queue_interrupt(&work->reactor->queue, &work->worker);
}

static VALUE serve_one(VALUE argument)
{
    struct uw_request *request = (struct uw_request *)argument;
    struct rb_uw_reactor *reactor = request->server->handler.context;

    if (request->events == UW_EVENT_SENT)
        rb_uw_serve_sent(reactor, request);
    else
        rb_uw_serve(reactor, request);
    return Qnil;
}

static VALUE end_one(VALUE argument)
{
    struct rb_uw_reactor *reactor = (struct rb_uw_reactor *)argument;

    atomic_fetch_sub(&reactor->busy, 1);
    return Qnil;
}

/* Requests are taken with the interpreter's lock held: under load one thread serves one after another, and the lock
 * changes hands only when the application itself waits for something. */
static VALUE work_on(VALUE argument)
{
    struct work *work = (struct work *)argument;
    struct rb_uw_reactor *reactor = work->reactor;

    for (;;) {
        struct uw_request *request;

        atomic_fetch_add(&reactor->busy, 1);
        request = uw_queue_take(&reactor->queue, &work->worker);
        if (request) {
            rb_ensure(serve_one, (VALUE)request, end_one, (VALUE)reactor);
            continue;
        }
        atomic_fetch_sub(&reactor->busy, 1);
        if (reactor->queue.closed)
            return Qnil;
        rb_thread_call_without_gvl(wait_for_work, work, interrupt_work, work);
    }
}

/* A worker that was signalled and leaves passes the signal on. */
static VALUE retire(VALUE argument)
{
    struct work *work = (struct work *)argument;

    uw_queue_retire(&work->reactor->queue, &work->worker);
    return Qnil;
}

/*
 * Serves requests on the calling thread, until the reactor has ended. For mode :threads.
 *
 * @return [nil]
 */
static VALUE reactor_work(VALUE self)
{
    struct work work = {.reactor = get(self)};

    rb_ensure(work_on, (VALUE)&work, retire, (VALUE)&work);
    RB_GC_GUARD(self);
    return Qnil;
}

/* What exchanges ask of the reactor, in either mode */

void rb_uw_hand_over(struct rb_uw_exchange *exchange, struct uw_chunk *chunk)
{
    struct rb_uw_reactor *reactor = exchange->reactor;
    struct uw_request *request = exchange->request;

    if (chunk->flags & UW_CHUNK_FINISH) {
        exchange->done = true;
        exchange->request = NULL;
    }
    if (chunk->flags & UW_CHUNK_TELL)
        rb_uw_keep(reactor, request,
                   rb_ary_new_from_args(5, exchange->finished, exchange->env, exchange->status, exchange->headers,
                                        exchange->error));
    if (reactor->mode == RB_UW_INLINE)
        uw_request_send(request, chunk);
    else
        uw_request_post(request, chunk);
}

struct drain_wait {
    struct rb_uw_reactor *reactor;
    struct uw_request *request;
    bool interrupted;
};

static bool waits_for_drain(const struct drain_wait *wait)
{
    return atomic_load(&wait->request->await_drain) && !wait->reactor->ended && !wait->interrupted;
}

static void *wait_for_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->reactor->lock);
    while (waits_for_drain(wait))
        pthread_cond_wait(&wait->reactor->changed, &wait->reactor->lock);
    wait->interrupted = false;
    pthread_mutex_unlock(&wait->reactor->lock);
    return NULL;
}

static void interrupt_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->reactor->lock);
    wait->interrupted = true;
    pthread_cond_broadcast(&wait->reactor->changed);
    pthread_mutex_unlock(&wait->reactor->lock);
}

static void await_drain_on_thread(struct rb_uw_exchange *exchange)
{
    struct drain_wait wait = {exchange->reactor, exchange->request, false};

    while (atomic_load(&exchange->request->await_drain) && !exchange->reactor->ended)
        rb_thread_call_without_gvl(wait_for_drain, &wait, interrupt_drain, &wait);
}

static void await_drain_on_fiber(struct rb_uw_exchange *exchange)
{
    rb_uw_keep(exchange->reactor, exchange->request, rb_fiber_current());
    rb_fiber_transfer(exchange->reactor->root, 0, NULL);
}

static void raise_if_lost(const struct rb_uw_exchange *exchange)
{
    if (atomic_load(&exchange->request->lost))
        rb_syserr_fail(EPIPE, "the client is gone");
}

void rb_uw_await_drain(struct rb_uw_exchange *exchange)
{
    raise_if_lost(exchange);
    if (exchange->reactor->mode == RB_UW_INLINE)
        flush_if_late(exchange->reactor);
    if (!uw_request_await_drain(exchange->request))
        return;
    if (exchange->reactor->mode == RB_UW_THREADS)
        await_drain_on_thread(exchange);
    else
        await_drain_on_fiber(exchange);
    raise_if_lost(exchange);
}

/* A detachment asked for by a worker: the loop's thread carries it out. */
struct detachment {
    struct uw_detached detached;
    struct uw_message message;
    struct rb_uw_reactor *reactor;
    struct uw_request *request;
    bool done;
};

static void detached(struct uw_detached *detached)
{
    struct detachment *detachment = uw_owner(detached, struct detachment, detached);
    struct rb_uw_reactor *reactor = detachment->reactor;

    pthread_mutex_lock(&reactor->lock);
    detachment->done = true;
    pthread_cond_broadcast(&reactor->changed);
    pthread_mutex_unlock(&reactor->lock);
}

static void detach(struct uw_loop *loop, struct uw_message *message)
{
    struct detachment *detachment = uw_owner(message, struct detachment, message);

    (void)loop;
    uw_request_detach(detachment->request, &detachment->detached);
}

static void *detach_on_thread(void *argument)
{
    struct detachment *detachment = argument;
    struct rb_uw_reactor *reactor = detachment->reactor;

    uw_loop_post(&reactor->server.loop, &detachment->message);
    pthread_mutex_lock(&reactor->lock);
    while (!detachment->done && !reactor->ended)
        pthread_cond_wait(&reactor->changed, &reactor->lock);
    pthread_mutex_unlock(&reactor->lock);
    return NULL;
}

/* On the loop's own thread: turns of the loop, whose other events wait until this request is done with. */
static void *detach_inline(void *argument)
{
    struct detachment *detachment = argument;
    struct uw_server *server = &detachment->reactor->server;

    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done && uw_server_turn(server, UW_FOREVER) == 0)
        ;
    return NULL;
}

static VALUE ruby_socket(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    const char *class = "TCPSocket";

    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 && address.ss_family == AF_UNIX)
        class = "UNIXSocket";
    rb_update_max_fd(fd);
    return rb_funcall(rb_path2class(class), id_for_fd, 1, INT2NUM(fd));
}

VALUE rb_uw_detach(struct rb_uw_exchange *exchange)
{
    struct detachment detachment = {
        .detached = {.done = detached},
        .message = {.receive = detach},
        .reactor = exchange->reactor,
        .request = exchange->request,
    };
    VALUE io, sent_ahead;

    /* Not interruptible: it ends soon, by the write time-out at the latest, and the loop refers to this stack until
     * then. */
    rb_nogvl(exchange->reactor->mode == RB_UW_THREADS ? detach_on_thread : detach_inline, &detachment, NULL, NULL, 0);
    if (detachment.detached.fd < 0)
        return Qnil;
    sent_ahead = rb_str_new(detachment.detached.bytes, (long)detachment.detached.length);
    free(detachment.detached.bytes);
    io = ruby_socket(detachment.detached.fd);
    if (RSTRING_LEN(sent_ahead))
        rb_funcall(io, id_ungetbyte, 1, sent_ahead);
    return io;
}

/* Control and inspection */

static void command(struct rb_uw_reactor *reactor, enum rb_uw_command command)
{
    atomic_store(&reactor->command, command);
    if (reactor->open)
        uw_loop_wake(&reactor->server.loop);
}

/*
 * Accepts no more and finishes every request in flight; then #run returns true. After the deadline it returns false.
 * May be called in a trap handler.
 *
 * @param seconds [Numeric]
 * @return [nil]
 */
static VALUE reactor_drain(VALUE self, VALUE seconds)
{
    struct rb_uw_reactor *reactor = get(self);
    int64_t deadline_ns = uw_clock_ns() + (int64_t)(NUM2DBL(seconds) * (double)UW_NS_PER_SECOND);

    atomic_store(&reactor->drain_deadline_ns, deadline_ns);
    if (atomic_load(&reactor->command) != RB_UW_STOP)
        command(reactor, RB_UW_DRAIN);
    return Qnil;
}

/*
 * Has #run return at once. May be called in a trap handler.
 *
 * @return [nil]
 */
static VALUE reactor_stop(VALUE self)
{
    command(get(self), RB_UW_STOP);
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll" or "poll"
 */
static VALUE reactor_backend(VALUE self)
{
    return get(self)->backend;
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
    const struct rb_uw_reactor *reactor = get(self);
    const struct uw_server *server = &reactor->server;
    VALUE stats = rb_hash_new();

    put(stats, "connections", reactor->open ? uw_server_connections(server) : 0);
    put(stats, "requests_in_memory", reactor->open ? server->requests.taken : 0);
    put(stats, "operations", reactor->open ? server->loop.pending : 0);
    put(stats, "queued", reactor->queue.length);
    put(stats, "accepted", server->counts.accepted);
    put(stats, "requests", server->counts.requests);
    put(stats, "refused", server->counts.refused);
    put(stats, "timeouts", server->counts.timeouts);
    put(stats, "turns", server->loop.turns);
    return stats;
}

void rb_uw_init_reactor(void)
{
    rb_require("socket");
    id_fileno = rb_intern("fileno");
    id_for_fd = rb_intern("for_fd");
    id_ungetbyte = rb_intern("ungetbyte");

    /* Document-class: Upwell::Reactor
     * A server of the core with a Rack application, on one loop. */
    cReactor = rb_define_class_under(rb_mUpwell, "Reactor", rb_cObject);
    rb_define_alloc_func(cReactor, reactor_allocate);
    rb_define_method(cReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cReactor, "listen", reactor_listen, 1);
    rb_define_method(cReactor, "run", reactor_run, 0);
    rb_define_method(cReactor, "work", reactor_work, 0);
    rb_define_method(cReactor, "drain", reactor_drain, 1);
    rb_define_method(cReactor, "stop", reactor_stop, 0);
    rb_define_method(cReactor, "backend", reactor_backend, 0);
    rb_define_method(cReactor, "stats", reactor_stats, 0);
}
