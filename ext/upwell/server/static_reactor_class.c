/* Upwell::StaticReactor: a server of the core that answers with files, on the thread that runs it. Ruby takes no part
 * in a request: the interpreter's lock is released while the server runs. */
#include "server/static_reactor_class.h"

#include <ruby.h>
#include <ruby/thread.h>

#include "base/after_fork.h"
#include "base/module.h"
#include "server/access_record.h"
#include "server/loop_server_class.h"
#include "server/server_settings.h"
#include "server/static_settings.h"
#include "static/static.h"

struct static_reactor {
    struct rb_uw_loop_server base;
    struct uw_static files;
    struct rb_uw_static_settings files_settings;
    unsigned forks; /* this process had been forked so often when `run` was called */
    bool has_files; /* `files` is */
    atomic_bool interrupted;
};

static VALUE cStaticReactor;

static void reactor_mark(void *data)
{
    rb_uw_loop_server_mark(&((struct static_reactor *)data)->base);
}

static void reactor_compact(void *data)
{
    rb_uw_loop_server_compact(&((struct static_reactor *)data)->base);
}

static void reactor_free(void *data)
{
    struct static_reactor *reactor = data;

    rb_uw_static_settings_free(&reactor->files_settings);
    rb_uw_loop_server_free(&reactor->base);
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

    rb_uw_loop_server_init(&reactor->base, self);
    return self;
}

/* Settings */

/*
 * @param root [String] the folder whose files are served
 * @param settings [Hash{Symbol => Object}] backend (String or nil); list, gzip_static (Boolean); spa, cache_control
 * (String or nil); media_types (Array of [extension, type], sorted by extension); cache_entries_max, cache_bytes_max,
 * cache_file_bytes_max; and the limits, time-outs and log settings of {Reactor}
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
    reactor->base.initialized = true;
    return self;
}

/* Running */

static struct static_reactor *reactor_of(void *files)
{
    return uw_container_of(files, struct static_reactor, files);
}

static void troubled(void *files, enum uw_system_error trouble, const char *where, int error)
{
    uw_refusal_log_trouble(&reactor_of(files)->base.refusals, trouble, where, error);
}

static void answered(void *files, struct uw_request *request)
{
    struct uw_access_record record = uw_access_record(request);

    rb_uw_access_logging_add(&reactor_of(files)->base.access_logging, request, &record);
}

static void refused(void *files, const struct uw_access_record *refusal)
{
    rb_uw_access_logging_add_refusal(&reactor_of(files)->base.access_logging, refusal);
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
    if (reactor->base.access_logging.log) {
        handler.answered = answered;
        handler.refused = refused;
    }
    return handler;
}

static void open_server(struct static_reactor *reactor)
{
    struct rb_uw_listening listening[UW_LISTENERS_MAX];
    long count = rb_uw_listening_retain(reactor->base.sockets, listening);
    int error = rb_uw_loop_server_open(&reactor->base, StringValueCStr(reactor->base.backend), handler_of(reactor));

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

    rb_uw_access_logging_open(&reactor->base.access_logging, &reactor->base.refusals);
    open_files(reactor);
    open_server(reactor);
    while (goes_on(reactor)) {
        atomic_store(&reactor->interrupted, false);
        rb_nogvl(serve, reactor, interrupt, reactor, RB_NOGVL_UBF_ASYNC_SAFE);
    }
    if (reactor->base.status)
        rb_syserr_fail(-reactor->base.status,
                       "the server stops, because it cannot wait for events; free memory, and start it again");
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
    rb_uw_access_logging_close(&reactor->base.access_logging);
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

void rb_uw_init_static_reactor(void)
{
    /* Document-class: Upwell::StaticReactor
     * A server of the core that answers with files, on one loop. */
    cStaticReactor = rb_define_class_under(rb_mUpwell, "StaticReactor", rb_uw_cLoopServer);
    rb_define_alloc_func(cStaticReactor, reactor_allocate);
    rb_define_method(cStaticReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cStaticReactor, "run", reactor_run, 0);
}
