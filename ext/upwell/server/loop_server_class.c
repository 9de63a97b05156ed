#include "server/loop_server_class.h"

#include <unistd.h>

#include "base/backend_choice.h"
#include "base/module.h"
#include "composition/composition.h"
#include "server/metrics_class.h"
#include "server/request_metrics.h"
#include "server/server_settings.h"

VALUE rb_uw_cLoopServer;

const rb_data_type_t rb_uw_loop_server_type = {.wrap_struct_name = "Upwell::LoopServer"};

static struct rb_uw_loop_server *get(VALUE self)
{
    struct rb_uw_loop_server *server;

    TypedData_Get_Struct(self, struct rb_uw_loop_server, &rb_uw_loop_server_type, server);
    return server;
}

void rb_uw_loop_server_init(struct rb_uw_loop_server *server, VALUE self)
{
    server->backend = server->sockets = server->access_logging.io = server->metrics_object = Qnil;
    RB_OBJ_WRITE(self, &server->sockets, rb_ary_new());
}

void rb_uw_loop_server_mark(const struct rb_uw_loop_server *server)
{
    rb_gc_mark_movable(server->backend);
    rb_gc_mark_movable(server->sockets);
    rb_gc_mark_movable(server->metrics_object);
    rb_uw_access_logging_mark(&server->access_logging);
}

void rb_uw_loop_server_compact(struct rb_uw_loop_server *server)
{
    server->backend = rb_gc_location(server->backend);
    server->sockets = rb_gc_location(server->sockets);
    server->metrics_object = rb_gc_location(server->metrics_object);
    rb_uw_access_logging_compact(&server->access_logging);
}

void rb_uw_loop_server_free(struct rb_uw_loop_server *server)
{
    rb_uw_access_logging_free(&server->access_logging);
}

size_t rb_uw_loop_server_bytes(const struct rb_uw_loop_server *server)
{
    return server->server.server_context.connections.blocks * server->server.server_context.connections.block_bytes +
           server->server.server_context.requests.blocks * server->server.server_context.requests.block_bytes;
}

static enum uw_log_form read_log_form(VALUE settings)
{
    return rb_uw_setting(settings, "log_format") == ID2SYM(rb_intern("json")) ? UW_LOG_JSON : UW_LOG_TEXT;
}

/* The setting is absent without a control address. */
static void read_metrics(struct rb_uw_loop_server *server, VALUE self, VALUE settings)
{
    VALUE metrics = rb_hash_lookup(settings, ID2SYM(rb_intern("metrics"))), worker = rb_uw_setting(settings, "worker");

    if (NIL_P(metrics))
        return;
    server->metrics = rb_uw_metrics(metrics);
    server->metrics_worker = NIL_P(worker) ? 0 : NUM2UINT(worker);
    if (server->metrics_worker >= server->metrics->workers)
        rb_raise(rb_eArgError, "these metrics have no worker %u", server->metrics_worker);
    RB_OBJ_WRITE(self, &server->metrics_object, metrics);
}

void rb_uw_loop_server_read(struct rb_uw_loop_server *server, VALUE self, VALUE settings)
{
    if (!NIL_P(server->backend))
        rb_raise(rb_eUpwellError, "this server is already initialized; create a new one");
    rb_uw_read_server_settings(&server->settings, settings);
    server->log_form = read_log_form(settings);
    rb_uw_access_logging_read(&server->access_logging, self, settings);
    read_metrics(server, self, settings);
    RB_OBJ_WRITE(self, &server->backend, rb_str_freeze(rb_uw_choose_backend(rb_uw_setting(settings, "backend"))));
}

void rb_uw_loop_server_begin(struct rb_uw_loop_server *server)
{
    if (!server->initialized)
        rb_raise(rb_eUpwellError, "this server is not initialized: a subclass must call super in initialize");
    if (server->ran)
        rb_raise(rb_eUpwellError, "this server has already run; create a new one");
    server->ran = true;
}

/* rb_gc_count reads a number and needs no lock. A worker inherits its supervisor's count. */
static void claim_metrics(struct rb_uw_loop_server *server)
{
    server->server.server_context.metrics =
        uw_metrics_claim(server->metrics, server->metrics_worker, (int64_t)getpid());
    server->gc_measured = rb_gc_count();
}

int rb_uw_loop_server_open(struct rb_uw_loop_server *server, const char *backend, struct uw_handler handler)
{
    int error = uw_server_open(&server->server, &uw_composition, &server->settings, backend, handler);

    if (error)
        return error;
    if (server->metrics)
        claim_metrics(server);
    uw_refusal_log_init(&server->refusals, &server->server.server_context.loop, STDERR_FILENO, server->log_form);
    rb_uw_shutdown_control_open(&server->control);
    return 0;
}

void rb_uw_loop_server_measure(struct rb_uw_loop_server *server, const struct uw_request *request,
                               const struct uw_access_record *record)
{
    uw_request_metrics_add(request, record);
    uw_metrics_add_growth(server->server.server_context.metrics, UW_METRIC_GC_COUNT_FIRST, rb_gc_count(),
                          &server->gc_measured);
}

/*
 * Serves the clients of a listening socket, once #run is called. The socket is not closed.
 *
 * @overload listen(socket, context = nil, inherited = false)
 *   @param socket [TCPServer, UNIXServer, Socket]
 *   @param context [TLSContext, nil] the clients' TLS context; nil: without TLS
 *   @param inherited [Boolean] whether the service manager keeps the socket: it listens beyond the end of the server
 * @return [self]
 * @raise [ArgumentError] for too many sockets
 */
static VALUE loop_server_listen(int argc, VALUE *argv, VALUE self)
{
    VALUE socket, context, inherited;

    rb_scan_args(argc, argv, "12", &socket, &context, &inherited);
    rb_uw_listening_add(get(self)->sockets, socket, context, inherited);
    return self;
}

/*
 * Serves later clients with another context; connected clients keep theirs.
 *
 * @param socket [TCPServer, Socket] a TLS socket of the reactor
 * @param context [TLSContext]
 * @return [self]
 * @raise [ArgumentError] for another socket
 */
static VALUE loop_server_renew(VALUE self, VALUE socket, VALUE context)
{
    struct rb_uw_loop_server *server = get(self);

    rb_uw_listening_renew(server->sockets, socket, context,
                          rb_uw_shutdown_control_server(&server->control, &server->server));
    return self;
}

/*
 * Announces a drain: readiness checks fail, and each response ends its connection. Clients are still accepted and
 * served, until #drain. May be called in a trap handler.
 *
 * @return [nil]
 */
static VALUE loop_server_announce_drain(VALUE self)
{
    struct rb_uw_loop_server *server = get(self);

    rb_uw_shutdown_control_announce_drain(&server->control, &server->server);
    return Qnil;
}

/*
 * Accepts no more connections and finishes all requests in progress; then #run returns true. After the deadline #run
 * returns false. May be called in a trap handler.
 *
 * @overload drain(seconds, refuses = false)
 *   @param seconds [Numeric]
 *   @param refuses [Boolean] whether the sockets that are not inherited stop listening, for all processes that share
 *     them: new clients are refused, and connected clients are served
 * @return [nil]
 */
static VALUE loop_server_drain(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_loop_server *server = get(self);
    VALUE seconds, refuses;

    rb_scan_args(argc, argv, "11", &seconds, &refuses);
    rb_uw_shutdown_control_drain(&server->control, &server->server, NUM2DBL(seconds), RTEST(refuses));
    return Qnil;
}

/*
 * Makes #run return at once. May be called in a trap handler.
 *
 * @return [nil]
 */
static VALUE loop_server_stop(VALUE self)
{
    struct rb_uw_loop_server *server = get(self);

    rb_uw_shutdown_control_stop(&server->control, &server->server);
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"
 */
static VALUE loop_server_backend(VALUE self)
{
    return get(self)->backend;
}

/*
 * @return [Integer] lines of the access log that could not be written in time; known once #run has returned
 */
static VALUE loop_server_log_lines_lost(VALUE self)
{
    return ULL2NUM(get(self)->access_logging.lines_lost);
}

void rb_uw_init_loop_server(void)
{
    /* Document-class: Upwell::LoopServer
     * The common part of {Reactor} and {StaticReactor}: a server of the core, on one loop. */
    rb_uw_cLoopServer = rb_define_class_under(rb_mUpwell, "LoopServer", rb_cObject);
    rb_undef_alloc_func(rb_uw_cLoopServer);
    rb_define_method(rb_uw_cLoopServer, "listen", loop_server_listen, -1);
    rb_define_method(rb_uw_cLoopServer, "renew", loop_server_renew, 2);
    rb_define_method(rb_uw_cLoopServer, "announce_drain", loop_server_announce_drain, 0);
    rb_define_method(rb_uw_cLoopServer, "drain", loop_server_drain, -1);
    rb_define_method(rb_uw_cLoopServer, "stop", loop_server_stop, 0);
    rb_define_method(rb_uw_cLoopServer, "backend", loop_server_backend, 0);
    rb_define_method(rb_uw_cLoopServer, "log_lines_lost", loop_server_log_lines_lost, 0);
}
