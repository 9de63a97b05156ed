#include "base/backend_choice.h"
#include "base/module.h"
#include "server/loop_server.h"
#include "server/settings.h"

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
    server->backend = server->sockets = Qnil;
    RB_OBJ_WRITE(self, &server->sockets, rb_ary_new());
}

void rb_uw_loop_server_mark(const struct rb_uw_loop_server *server)
{
    rb_gc_mark_movable(server->backend);
    rb_gc_mark_movable(server->sockets);
}

void rb_uw_loop_server_compact(struct rb_uw_loop_server *server)
{
    server->backend = rb_gc_location(server->backend);
    server->sockets = rb_gc_location(server->sockets);
}

size_t rb_uw_loop_server_bytes(const struct rb_uw_loop_server *server)
{
    return server->server.service.connections.blocks * server->server.service.connections.block_bytes +
           server->server.service.requests.blocks * server->server.service.requests.block_bytes;
}

void rb_uw_loop_server_read(struct rb_uw_loop_server *server, VALUE self, VALUE settings)
{
    if (!NIL_P(server->backend))
        rb_raise(rb_eUpwellError, "a reactor is initialized once");
    rb_uw_read_server_settings(&server->settings, settings);
    RB_OBJ_WRITE(self, &server->backend, rb_str_freeze(rb_uw_choose_backend(rb_uw_setting(settings, "backend"))));
}

void rb_uw_loop_server_begin(struct rb_uw_loop_server *server)
{
    if (!server->initialized)
        rb_raise(rb_eUpwellError, "a reactor that is not initialized cannot run");
    if (server->ran)
        rb_raise(rb_eUpwellError, "a reactor runs once: make a new one");
    server->ran = true;
}

int rb_uw_loop_server_open(struct rb_uw_loop_server *server, const char *backend, struct uw_handler handler)
{
    int error = uw_server_open(&server->server, &server->settings, backend, handler);

    if (!error)
        rb_uw_control_open(&server->control);
    return error;
}

/*
 * Serves what connects to a listening socket, once #run is called. The socket is not closed.
 *
 * @overload listen(socket, context = nil)
 *   @param socket [TCPServer, UNIXServer, Socket]
 *   @param context [TLSContext, nil] what clients are served with; nil: without TLS
 * @return [self]
 * @raise [ArgumentError] when there are too many
 */
static VALUE loop_server_listen(int argc, VALUE *argv, VALUE self)
{
    VALUE socket, context;

    rb_scan_args(argc, argv, "11", &socket, &context);
    rb_uw_listening_add(get(self)->sockets, socket, context);
    return self;
}

/*
 * Has clients that connect from now on served with another context; those that are connected keep theirs.
 *
 * @param socket [TCPServer, Socket] on which the reactor listens by TLS
 * @param context [TLSContext]
 * @return [self]
 * @raise [ArgumentError] for another socket
 */
static VALUE loop_server_renew(VALUE self, VALUE socket, VALUE context)
{
    struct rb_uw_loop_server *server = get(self);

    rb_uw_listening_renew(server->sockets, socket, context, rb_uw_control_server(&server->control, &server->server));
    return self;
}

/*
 * Accepts no more and finishes everything in flight; then #run returns true. After the deadline it returns false. May
 * be called in a trap handler.
 *
 * @overload drain(seconds, refuses = false)
 *   @param seconds [Numeric]
 *   @param refuses [Boolean] whether the listening sockets end to listen, for whoever has them: who comes is refused,
 *     and who is connected already is served
 * @return [nil]
 */
static VALUE loop_server_drain(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_loop_server *server = get(self);
    VALUE seconds, refuses;

    rb_scan_args(argc, argv, "11", &seconds, &refuses);
    rb_uw_control_drain(&server->control, &server->server, NUM2DBL(seconds), RTEST(refuses));
    return Qnil;
}

/*
 * Has #run return at once. May be called in a trap handler.
 *
 * @return [nil]
 */
static VALUE loop_server_stop(VALUE self)
{
    struct rb_uw_loop_server *server = get(self);

    rb_uw_control_stop(&server->control, &server->server);
    return Qnil;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"
 */
static VALUE loop_server_backend(VALUE self)
{
    return get(self)->backend;
}

void rb_uw_init_loop_server(void)
{
    /* Document-class: Upwell::LoopServer
     * What {Reactor} and {StaticReactor} have in common: a server of the core, on one loop. */
    rb_uw_cLoopServer = rb_define_class_under(rb_mUpwell, "LoopServer", rb_cObject);
    rb_undef_alloc_func(rb_uw_cLoopServer);
    rb_define_method(rb_uw_cLoopServer, "listen", loop_server_listen, -1);
    rb_define_method(rb_uw_cLoopServer, "renew", loop_server_renew, 2);
    rb_define_method(rb_uw_cLoopServer, "drain", loop_server_drain, -1);
    rb_define_method(rb_uw_cLoopServer, "stop", loop_server_stop, 0);
    rb_define_method(rb_uw_cLoopServer, "backend", loop_server_backend, 0);
}
