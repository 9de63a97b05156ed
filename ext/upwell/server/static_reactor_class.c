/* Upwell::StaticReactor: a server of the core that answers with files, on the thread that runs it. Ruby has no part in
 * a request: the interpreter's lock is let go for as long as it runs. */
#include "base/control.h"
#include "base/forks.h"
#include "log/access_log.h"
#include "server/static_settings.h"
#include "static/response.h"
#include "static/static.h"
#include "upwell.h"

struct static_reactor {
    struct uw_server server;
    struct uw_server_settings settings;
    struct uw_static files;
    struct rb_uw_static_settings files_settings;
    struct uw_access_log *log;
    enum uw_access_format log_format;
    uint64_t log_lines_lost;
    struct rb_uw_control control;
    VALUE backend, sockets, access_log;
    unsigned forks; /* this process had been forked so often when `run` was called */
    bool ran;       /* that is so */
    bool logs;      /* `log` is open */
    bool has_files; /* `files` is */
    bool finished;  /* nothing was in flight at the end */
    atomic_bool interrupted;
    int status;
};

static ID id_fileno;
static VALUE cStaticReactor;

static void reactor_mark(void *data)
{
    struct static_reactor *reactor = data;

    rb_gc_mark_movable(reactor->backend);
    rb_gc_mark_movable(reactor->sockets);
    rb_gc_mark_movable(reactor->access_log);
}

static void reactor_compact(void *data)
{
    struct static_reactor *reactor = data;

    reactor->backend = rb_gc_location(reactor->backend);
    reactor->sockets = rb_gc_location(reactor->sockets);
    reactor->access_log = rb_gc_location(reactor->access_log);
}

static void reactor_free(void *data)
{
    struct static_reactor *reactor = data;

    rb_uw_static_settings_free(&reactor->files_settings);
    xfree(reactor);
}

static size_t reactor_memsize(const void *data)
{
    const struct static_reactor *reactor = data;

    return sizeof *reactor + rb_uw_static_settings_bytes(&reactor->files_settings) +
           reactor->server.service.connections.blocks * reactor->server.service.connections.block_bytes +
           reactor->server.service.requests.blocks * reactor->server.service.requests.block_bytes;
}

static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Upwell::StaticReactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_memsize, .dcompact = reactor_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct static_reactor *get(VALUE self)
{
    struct static_reactor *reactor;

    TypedData_Get_Struct(self, struct static_reactor, &reactor_type, reactor);
    return reactor;
}

static VALUE reactor_allocate(VALUE class)
{
    struct static_reactor *reactor;
    VALUE self = TypedData_Make_Struct(class, struct static_reactor, &reactor_type, reactor);

    reactor->backend = reactor->access_log = Qnil;
    RB_OBJ_WRITE(self, &reactor->sockets, rb_ary_new());
    return self;
}

/* Settings */

static enum uw_access_format read_log_format(VALUE settings)
{
    VALUE format = rb_uw_setting(settings, "log_format");

    if (format == ID2SYM(rb_intern("combined")))
        return UW_ACCESS_COMBINED;
    if (format == ID2SYM(rb_intern("json")))
        return UW_ACCESS_JSON;
    rb_raise(rb_eArgError, "log_format must be :combined or :json, not %+" PRIsVALUE, format);
}

/*
 * @param root [String] the folder whose files are served
 * @param settings [Hash{Symbol => Object}] backend (String or nil); list, gzip_static (Boolean); spa, cache_control
 * (String or nil); media_types (Array of [extension, type], sorted by extension); access_log (IO or nil) and log_format
 * (:combined or :json); cache_entries_max, cache_bytes_max, cache_file_bytes_max; and the limits and time-outs of
 * {Reactor}
 * @raise [KeyError] when a setting is missing
 * @raise [ArgumentError] when one is out of range
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE reactor_initialize(VALUE self, VALUE root, VALUE settings)
{
    struct static_reactor *reactor = get(self);

    rb_uw_read_server_settings(&reactor->settings, settings);
    rb_uw_static_settings_read(&reactor->files_settings, root, settings);
    reactor->settings.answers_at_once = true;
    reactor->log_format = read_log_format(settings);
    RB_OBJ_WRITE(self, &reactor->access_log, rb_uw_setting(settings, "access_log"));
    RB_OBJ_WRITE(self, &reactor->backend, rb_str_freeze(rb_uw_choose_backend(rb_uw_setting(settings, "backend"))));
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
    struct static_reactor *reactor = get(self);

    if (RARRAY_LEN(reactor->sockets) >= UW_LISTENERS_MAX)
        rb_raise(rb_eArgError, "a reactor listens on at most %d sockets", UW_LISTENERS_MAX);
    rb_ary_push(reactor->sockets, socket);
    return self;
}

/* Running */

static void log_answer(void *context, const struct uw_response *response)
{
    uw_access_log_add(context, response->request, response->status, response->content_bytes);
}

static void log_refusal(void *context, const struct uw_access *refusal)
{
    uw_access_log_add_refusal(context, refusal);
}

static int descriptor(VALUE io)
{
    return NUM2INT(rb_funcall(io, id_fileno, 0));
}

static void open_log(struct static_reactor *reactor)
{
    int error = uw_access_log_open(&reactor->log, descriptor(reactor->access_log), reactor->log_format);

    if (error)
        rb_syserr_fail(-error, "starting the access log");
    reactor->logs = true;
    reactor->files_settings.core.answered = log_answer;
    reactor->files_settings.core.refused = log_refusal;
    reactor->files_settings.core.answered_context = reactor->log;
}

static void open_files(struct static_reactor *reactor)
{
    int error = uw_static_open(&reactor->files, &reactor->files_settings.core);

    if (error)
        rb_syserr_fail(-error, reactor->files_settings.core.root);
    reactor->has_files = true;
}

static void open_server(struct static_reactor *reactor)
{
    int error = uw_server_open(&reactor->server, &reactor->settings, StringValueCStr(reactor->backend),
                               uw_static_handler(&reactor->files));

    if (error)
        rb_syserr_fail(-error, "starting the event loop");
    rb_uw_control_open(&reactor->control);
    for (long i = 0; i < RARRAY_LEN(reactor->sockets) && !error; i++)
        error = uw_server_listen(&reactor->server, descriptor(RARRAY_AREF(reactor->sockets, i)));
    if (error)
        rb_syserr_fail(-error, "listening");
}

/* Whether this process is the child that a trap handler has forked: all this is its parent's. */
static bool is_copy(const struct static_reactor *reactor)
{
    return rb_uw_forked_since(reactor->forks);
}

static bool goes_on(struct static_reactor *reactor)
{
    return !reactor->status && !is_copy(reactor) && rb_uw_control_goes_on(&reactor->control, &reactor->server);
}

static void *serve(void *argument)
{
    struct static_reactor *reactor = argument;

    while (!atomic_load(&reactor->interrupted) && goes_on(reactor))
        reactor->status = uw_server_turn(&reactor->server, rb_uw_control_wait_ns(&reactor->control));
    return NULL;
}

static void interrupt(void *argument)
{
    struct static_reactor *reactor = argument;

    atomic_store(&reactor->interrupted, true);
    uw_loop_wake(&reactor->server.service.loop);
}

static VALUE open_and_serve(VALUE self)
{
    struct static_reactor *reactor = get(self);

    if (!NIL_P(reactor->access_log))
        open_log(reactor);
    open_files(reactor);
    open_server(reactor);
    while (goes_on(reactor)) {
        atomic_store(&reactor->interrupted, false);
        rb_nogvl(serve, reactor, interrupt, reactor, RB_NOGVL_UBF_ASYNC_SAFE);
    }
    if (reactor->status)
        rb_syserr_fail(-reactor->status, "waiting for events");
    return Qnil;
}

static void *close_log(void *argument)
{
    struct static_reactor *reactor = argument;

    reactor->log_lines_lost = uw_access_log_close(reactor->log);
    reactor->logs = false;
    return NULL;
}

/* Signals are to be obeyed while it waits for a reader. */
static VALUE close_log_without_lock(VALUE self)
{
    rb_nogvl(close_log, get(self), NULL, NULL, 0);
    return Qnil;
}

/* Something may have been raised before it had begun. */
static VALUE close_log_at_all(VALUE self)
{
    if (get(self)->logs)
        close_log(get(self));
    return Qnil;
}

static VALUE close_all(VALUE self)
{
    struct static_reactor *reactor = get(self);

    if (is_copy(reactor)) {
        reactor->finished = true;
        return Qnil;
    }
    if (reactor->control.open) {
        reactor->control.open = false;
        reactor->finished = uw_server_connections(&reactor->server) == 0;
        uw_static_stop(&reactor->files);
        uw_server_close(&reactor->server);
    }
    if (reactor->has_files)
        uw_static_close(&reactor->files);
    reactor->has_files = false;
    if (reactor->logs)
        rb_ensure(close_log_without_lock, self, close_log_at_all, self);
    return Qnil;
}

/*
 * Serves on the calling thread until #drain or #stop.
 *
 * @return [Boolean] whether everything in flight was finished
 * @raise [SystemCallError] when the folder cannot be opened, or the loop fails
 * @raise [Upwell::Error] when it has run already
 */
static VALUE reactor_run(VALUE self)
{
    struct static_reactor *reactor = get(self);

    if (reactor->ran)
        rb_raise(rb_eUpwellError, "a reactor runs once: make a new one");
    reactor->ran = true;
    reactor->forks = atomic_load(&rb_uw_forks);
    rb_ensure(open_and_serve, self, close_all, self);
    return reactor->finished ? Qtrue : Qfalse;
}

/* Control and inspection */

/*
 * Accepts no more and finishes every response in flight; then #run returns true. After the deadline it returns false.
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
    struct static_reactor *reactor = get(self);
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
    struct static_reactor *reactor = get(self);

    rb_uw_control_stop(&reactor->control, &reactor->server);
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "poll" or "io_uring_sqpoll"
 */
static VALUE reactor_backend(VALUE self)
{
    return get(self)->backend;
}

/*
 * @return [Integer] lines of the access log that could not be written in time; known once #run has returned
 */
static VALUE reactor_log_lines_lost(VALUE self)
{
    return ULL2NUM(get(self)->log_lines_lost);
}

void rb_uw_init_static_reactor(void)
{
    id_fileno = rb_intern("fileno");

    /* Document-class: Upwell::StaticReactor
     * A server of the core that answers with files, on one loop. */
    cStaticReactor = rb_define_class_under(rb_mUpwell, "StaticReactor", rb_cObject);
    rb_define_alloc_func(cStaticReactor, reactor_allocate);
    rb_define_method(cStaticReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cStaticReactor, "listen", reactor_listen, 1);
    rb_define_method(cStaticReactor, "run", reactor_run, 0);
    rb_define_method(cStaticReactor, "drain", reactor_drain, -1);
    rb_define_method(cStaticReactor, "stop", reactor_stop, 0);
    rb_define_method(cStaticReactor, "backend", reactor_backend, 0);
    rb_define_method(cStaticReactor, "log_lines_lost", reactor_log_lines_lost, 0);
}
