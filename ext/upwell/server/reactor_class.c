#include "server/reactor_class.h"

#include "base/module.h"
#include "base/object_counts.h"
#include "base/process_exceptions.h"
#include "rack/async_exceptions.h"
#include "rack/exchange.h"
#include "rack/input_class.h"
#include "rack/rack_env.h"
#include "rack/retained_env.h"
#include "server/reactor.h"
#include "server/reactor_bus.h"
#include "server/reactor_channels.h"
#include "server/reactor_fibers.h"
#include "server/reactor_inline.h"
#include "server/reactor_public_files.h"
#include "server/reactor_threads.h"
#include "server/server_settings.h"
#include "server/thread_raise.h"

static VALUE cReactor;

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

/* Threads of the application wait as workers do, in any mode. */
static void choose_mode(struct rb_uw_reactor *reactor, const struct rb_uw_mode *mode, VALUE settings)
{
    reactor->mode_state = xcalloc(1, mode->own_bytes);
    reactor->mode = mode;
    reactor->rack_context.here = &mode->calls;
    reactor->rack_context.elsewhere = &rb_uw_mode_threads.calls;
    reactor->rack_context.one_thread = mode->one_thread;
    mode->init(reactor, settings);
}

static void read_public(struct rb_uw_reactor *reactor, VALUE settings)
{
    if (!NIL_P(settings))
        rb_uw_static_settings_read(&reactor->public_settings, rb_uw_setting(settings, "root"), settings);
}

/*
 * @param app [#call] a Rack application
 * @param settings [Hash{Symbol => Object}] mode (:fibers, :inline or :threads), fibers_max, backend (String or nil),
 * the limits head_bytes_max, headers_max, target_bytes_max, body_bytes_max, body_memory_bytes_max, connections_max,
 * message_bytes_max, client_bytes_max; the time-outs in seconds head_timeout, body_timeout, keep_alive_timeout,
 * write_timeout, client_timeout (0: none); health_path and ready_path (String or nil); newline_header_values (true for
 * Rack 2); underscores_in_headers (whether headers whose names have an underscore are kept); public (nil, or a Hash of
 * root and {StaticReactor}'s file settings): the folder whose files are sent without a call of the application;
 * bus (nil, or the path of a folder of this user alone, mode 0700): all processes of the server exchange published
 * messages there; log_format (:combined or :json) of the server's own log; access_log (IO or nil), access_log_format
 * (:combined, :json or :terminal), access_log_except (Array of paths) and worker (its number, or nil); metrics
 * ({Metrics}, nil or absent)
 * @raise [KeyError] when a setting is missing
 * @raise [ArgumentError] when one is out of range
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE reactor_initialize(VALUE self, VALUE app, VALUE settings)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_rack_context *rack_context = &reactor->rack_context;

    (void)rb_uw_error_log(); /* before it is needed */
    rb_uw_loop_server_read(&reactor->base, self, settings);
    rb_uw_read_client_settings(&reactor->base.settings, settings);
    choose_mode(reactor, read_mode(settings), settings);
    read_public(reactor, rb_uw_setting(settings, "public"));
    rb_uw_reactor_read_bus(reactor, rb_uw_setting(settings, "bus"));
    rack_context->newline_values = RTEST(rb_uw_setting(settings, "newline_header_values"));
    rack_context->underscores = RTEST(rb_uw_setting(settings, "underscores_in_headers"));
    rack_context->logged = !NIL_P(reactor->base.access_logging.io);
    rack_context->timed = rack_context->logged || reactor->base.metrics;
    rack_context->spill_memory_bytes_max = reactor->base.settings.body_memory_bytes_max;
    RB_OBJ_WRITE(self, &rack_context->app, app);
    RB_OBJ_WRITE(self, &rack_context->input, rb_uw_input_empty());
    RB_OBJ_WRITE(self, &rack_context->template,
                 rb_uw_env_template(rack_context->newline_values, rack_context->logged, rack_context->input));
    RB_OBJ_WRITE(self, &rack_context->held_errors, rb_uw_retained_errors());
    reactor->base.initialized = true;
    return self;
}

/* Running */

static size_t queued(const struct rb_uw_reactor *reactor)
{
    return reactor->mode_state && reactor->mode->queued ? reactor->mode->queued(reactor) : 0;
}

static size_t fibers(const struct rb_uw_reactor *reactor)
{
    return reactor->mode_state && reactor->mode->fibers ? reactor->mode->fibers(reactor) : 0;
}

/* A worker still inside the application may use its request until the process exits, so nothing is freed then. A child
 * that a trap handler has forked may run this: its objects are the parent's. */
static VALUE close_server(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    if (rb_uw_reactor_is_copy(reactor)) {
        rb_uw_reactor_close_bus(reactor);
        reactor->base.finished = true;
        return Qnil;
    }
    reactor->rack_context.closed = true;
    reactor->mode->close(reactor);
    rb_uw_reactor_end_channels(reactor);
    reactor->base.finished = uw_server_is_finished(&reactor->base.server);
    reactor->base.control.open = false;
    rb_uw_reactor_stop_files(reactor);
    if (atomic_load(&reactor->busy) == 0 && queued(reactor) == 0) {
        uw_server_close(&reactor->base.server);
        rb_uw_reactor_close_bus(reactor);
        rb_uw_reactor_close_files(reactor);
    } else {
        uw_server_end_connections(&reactor->base.server);
    }
    rb_uw_access_logging_close(&reactor->base.access_logging);
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

static void close_what_was_opened(struct rb_uw_reactor *reactor)
{
    rb_uw_reactor_close_files(reactor);
    rb_uw_access_logging_close(&reactor->base.access_logging);
}

static void start(struct rb_uw_reactor *reactor)
{
    struct rb_uw_listening listening[UW_LISTENERS_MAX];
    int error;
    long count;

    rb_uw_reactor_open_files(reactor);
    rb_uw_access_logging_open(&reactor->base.access_logging, &reactor->base.refusals);
    count = rb_uw_listening_retain(reactor->base.sockets, listening);
    error = reactor->mode->open(reactor, StringValueCStr(reactor->base.backend), listening, count);
    if (!error)
        rb_uw_listening_catch_up(reactor->base.sockets, listening, count, &reactor->base.server);
    rb_uw_listening_release(listening, count);
    if (!error)
        return;
    if (reactor->base.control.open)
        close_server(reactor->rack_context.self);
    else
        close_what_was_opened(reactor);
    rb_syserr_fail(-error, "cannot start the server's event loop");
}

/*
 * Serves until #drain or #stop; in mode :inline the application runs on the calling thread, which must be on its first
 * fiber.
 *
 * @return [Boolean] whether everything in flight was finished
 * @raise [SystemCallError] when the loop cannot be opened, or fails, or the folder of the bus is invalid
 * @raise [Upwell::Error] when it runs already
 */
static VALUE reactor_run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    rb_uw_loop_server_begin(&reactor->base);
    rb_uw_note_process_exceptions();
    reactor->rack_context.forks = rb_uw_forks_now();
    RB_OBJ_WRITE(self, &reactor->rack_context.root, rb_fiber_current());
    start(reactor);
    rb_ensure(run_guarded, self, close_guarded, self);
    if (reactor->base.status)
        rb_syserr_fail(-reactor->base.status,
                       "the server stops, because it cannot wait for events; free memory, and start it again");
    return reactor->base.finished ? Qtrue : Qfalse;
}

/*
 * Serves requests on the calling thread, until the reactor has ended. For mode :threads.
 *
 * @return [nil]
 * @raise [Upwell::Error] in any other mode
 */
static VALUE reactor_work(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    if (!reactor->base.initialized || !reactor->mode->work)
        rb_raise(rb_eUpwellError, "only mode threads has worker threads");
    reactor->mode->work(reactor);
    return Qnil;
}

/* Inspection */

/*
 * The time for which the application has occupied the loop's thread. May be called by any thread.
 *
 * @return [Float, nil] seconds; nil while the loop waits, and in mode :threads
 */
static VALUE reactor_busy_seconds(VALUE self)
{
    int64_t since_ns = rb_uw_reactor(self)->rack_context.busy_since_ns;

    return since_ns ? DBL2NUM((double)(uw_clock_ns() - since_ns) / (double)UW_NS_PER_SECOND) : Qnil;
}

/*
 * The requests that the application is serving. May be called by any thread.
 *
 * @return [Array<Array(Hash, Thread, Float, Boolean)>] of each its env, its thread, the seconds since it began,
 *   and whether it occupies the loop's thread at this moment, so that every other client waits
 */
static VALUE reactor_requests(VALUE self)
{
    return rb_uw_served_now(&rb_uw_reactor(self)->rack_context);
}

/*
 * Counts since the start, and current counts (connections, requests_in_memory, clients, operations, queued). Clients
 * are long-lived ones: WebSockets and event streams. All are 0 while the reactor is not running.
 *
 * @return [Hash{Symbol => Integer}]
 */
static VALUE reactor_stats(VALUE self)
{
    const struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    const struct uw_server *server = &reactor->base.server;
    VALUE stats = rb_hash_new();

    rb_uw_stats_put(stats, "connections", reactor->base.control.open ? uw_server_connections(server) : 0);
    rb_uw_stats_put(stats, "requests_in_memory",
                    reactor->base.control.open ? server->server_context.requests.taken : 0);
    rb_uw_stats_put(stats, "clients", reactor->base.control.open ? server->server_context.clients : 0);
    rb_uw_stats_put(stats, "operations", reactor->base.control.open ? server->server_context.loop.pending : 0);
    rb_uw_stats_put(stats, "queued", queued(reactor));
    rb_uw_stats_put(stats, "fibers", fibers(reactor));
    rb_uw_stats_put(stats, "accepted", server->server_context.counts.accepted);
    rb_uw_stats_put(stats, "requests", server->server_context.counts.requests);
    rb_uw_stats_put(stats, "refused", server->server_context.counts.refused);
    rb_uw_stats_put(stats, "timeouts", server->server_context.counts.timeouts);
    rb_uw_stats_put(stats, "turns", server->server_context.loop.turns);
    return stats;
}

void rb_uw_init_reactor(void)
{
    /* Document-class: Upwell::Reactor
     * A server of the core with a Rack application, on one loop. */
    cReactor = rb_define_class_under(rb_mUpwell, "Reactor", rb_uw_cLoopServer);
    rb_define_alloc_func(cReactor, rb_uw_reactor_allocate);
    /* The maximum length of the path of the bus's directory. */
    rb_define_const(cReactor, "BUS_FOLDER_BYTES_MAX", SIZET2NUM(UW_BUS_FOLDER_BYTES_MAX));
    rb_define_method(cReactor, "initialize", reactor_initialize, 2);
    rb_define_method(cReactor, "run", reactor_run, 0);
    rb_define_method(cReactor, "work", reactor_work, 0);
    rb_define_method(cReactor, "stats", reactor_stats, 0);
    rb_define_method(cReactor, "busy_seconds", reactor_busy_seconds, 0);
    rb_define_method(cReactor, "requests", reactor_requests, 0);
    rb_uw_init_reactor_channels(cReactor);
}
