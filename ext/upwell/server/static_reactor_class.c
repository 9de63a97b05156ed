/* Upwell::StaticReactor: a server of the core that answers with files, on the thread that runs it. Ruby takes no part
 * in a request: the interpreter's lock is released while the server runs. */
#include "server/static_reactor_class.h"

#include <ruby.h>
#include <ruby/thread.h>

#include "base/after_fork.h"
#include "base/module.h"
#include "log/access_log.h"
#include "log/refusal_log.h"
#include "server/access_record.h"
#include "server/loop_server_class.h"
#include "server/server_settings.h"
#include "server/static_settings.h"
#include "static/response_output.h"
#include "static/static.h"

struct static_reactor {
    struct rb_uw_loop_server base;
    struct uw_static files;
    struct rb_uw_static_settings files_settings;
    struct uw_refusal_log troubles;
    struct uw_access_log *log;
    enum uw_access_format log_format;
    uint64_t log_lines_lost;
    VALUE access_log;
    unsigned forks; /* this process had been forked so often when `run` was called */
    bool logs;      /* `log` is open */
    bool has_files; /* `files` is */
    atomic_bool interrupted;
};

static ID id_fileno;
static VALUE cStaticReactor;

static void reactor_mark(void *data)
{
    struct static_reactor *reactor = data;

    rb_uw_loop_server_mark(&reactor->base);
    rb_gc_mark_movable(reactor->access_log);
}

static void reactor_compact(void *data)
{
    struct static_reactor *reactor = data;

    rb_uw_loop_server_compact(&reactor->base);
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
           rb_uw_loop_server_bytes(&reactor->base);
}

static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Upwell::StaticReactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_memsize, .dcompact = reactor_compact},
    .parent = &rb_uw_loop_server_type,
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

    reactor->access_log = Qnil;
    rb_uw_loop_server_init(&reactor->base, self);
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

    rb_uw_loop_server_read(&reactor->base, self, settings);
    rb_uw_static_settings_read(&reactor->files_settings, root, settings);
    reactor->base.settings.answers_at_once = true;
    reactor->log_format = read_log_format(settings);
    RB_OBJ_WRITE(self, &reactor->access_log, rb_uw_setting(settings, "access_log"));
    reactor->base.initialized = true;
    return self;
}

/* Running */

static void troubled(void *files, enum uw_system_error trouble, const char *where, int error)
{
    uw_refusal_log_trouble(&uw_container_of(files, struct static_reactor, files)->troubles, trouble, where, error);
}

static void log_access(struct static_reactor *reactor, const struct uw_access_record *access)
{
    int error = uw_access_log_take_error(reactor->log);

    if (error)
        uw_refusal_log_trouble(&reactor->troubles, UW_SYSTEM_ERROR_ACCESS_LOG, NULL, -error);
    uw_access_log_add(reactor->log, access);
}

static void log_answer(void *context, const struct uw_response *response)
{
    struct uw_access_record access =
        uw_access_record(response->request, response->head.status, response->content_bytes);

    log_access(context, &access);
}

static void log_refusal(void *context, const struct uw_access_record *refusal)
{
    log_access(context, refusal);
}

static int descriptor(VALUE io)
{
    return NUM2INT(rb_funcall(io, id_fileno, 0));
}

static void open_log(struct static_reactor *reactor)
{
    int error = uw_access_log_open(&reactor->log, descriptor(reactor->access_log), reactor->log_format);

    if (error)
        rb_syserr_fail(-error, "cannot start the access log");
    reactor->logs = true;
    reactor->files_settings.core.answered = log_answer;
    reactor->files_settings.core.refused = log_refusal;
    reactor->files_settings.core.answered_context = reactor;
}

static void open_files(struct static_reactor *reactor)
{
    int error = uw_static_open(&reactor->files, &reactor->files_settings.core);

    if (error)
        rb_syserr_fail(-error, reactor->files_settings.core.root);
    reactor->has_files = true;
}

static struct uw_handler handler_of(struct static_reactor *reactor)
{
    struct uw_handler handler = uw_static_handler(&reactor->files);

    handler.troubled = troubled;
    return handler;
}

static void open_server(struct static_reactor *reactor)
{
    struct rb_uw_listening listening[UW_LISTENERS_MAX];
    long count = rb_uw_listening_retain(reactor->base.sockets, listening);
    int error = rb_uw_loop_server_open(&reactor->base, StringValueCStr(reactor->base.backend), handler_of(reactor));

    uw_refusal_log_init(&reactor->troubles, &reactor->base.server.server_context.loop, STDERR_FILENO);
    if (!error)
        error = rb_uw_listening_open(&reactor->base.server, listening, count);
    rb_uw_listening_release(listening, count);
    if (error)
        rb_syserr_fail(-error, "cannot start the server's event loop");
}

/* Whether this process is the child that a trap handler has forked: all this is its parent's. */
static bool is_copy(const struct static_reactor *reactor)
{
    return rb_uw_forked_since(reactor->forks);
}

static bool goes_on(struct static_reactor *reactor)
{
    return !reactor->base.status && !is_copy(reactor) &&
           rb_uw_shutdown_control_goes_on(&reactor->base.control, &reactor->base.server);
}

static void *serve(void *argument)
{
    struct static_reactor *reactor = argument;

    while (!atomic_load(&reactor->interrupted) && goes_on(reactor))
        reactor->base.status =
            uw_server_turn(&reactor->base.server, rb_uw_shutdown_control_wait_ns(&reactor->base.control));
    return NULL;
}

static void interrupt(void *argument)
{
    struct static_reactor *reactor = argument;

    atomic_store(&reactor->interrupted, true);
    uw_loop_wake(&reactor->base.server.server_context.loop);
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
    if (reactor->base.status)
        rb_syserr_fail(-reactor->base.status, "the server stops, because it cannot wait for events");
    return Qnil;
}

static void *close_log(void *argument)
{
    struct static_reactor *reactor = argument;

    reactor->log_lines_lost = uw_access_log_close(reactor->log);
    reactor->logs = false;
    return NULL;
}

/* Signals must be handled during the wait for a reader. */
static VALUE close_log_without_lock(VALUE self)
{
    rb_nogvl(close_log, get(self), NULL, NULL, 0);
    return Qnil;
}

/* Closes the log if it was opened: an exception may have come before. */
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
        reactor->base.finished = true;
        return Qnil;
    }
    if (reactor->base.control.open) {
        reactor->base.control.open = false;
        reactor->base.finished = uw_server_connections(&reactor->base.server) == 0;
        uw_static_stop(&reactor->files);
        uw_server_close(&reactor->base.server);
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

    rb_uw_loop_server_begin(&reactor->base);
    reactor->forks = rb_uw_forks_now();
    rb_ensure(open_and_serve, self, close_all, self);
    return reactor->base.finished ? Qtrue : Qfalse;
}

/* Control and inspection */

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
    cStaticReactor = rb_define_class_under(rb_mUpwell, "StaticReactor", rb_uw_cLoopServer);
    rb_define_alloc_func(cStaticReactor, reactor_allocate);
    rb_define_method(cStaticReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cStaticReactor, "run", reactor_run, 0);
    rb_define_method(cStaticReactor, "log_lines_lost", reactor_log_lines_lost, 0);
}
