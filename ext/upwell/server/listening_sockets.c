#include "server/listening_sockets.h"

#include "base/module.h"
#include "server/tls_context_class.h"
#include "server/tls_reload.h"

static VALUE socket_of(VALUE sockets, long index)
{
    return RARRAY_AREF(RARRAY_AREF(sockets, index), 0);
}

static VALUE context_of(VALUE sockets, long index)
{
    return RARRAY_AREF(RARRAY_AREF(sockets, index), 1);
}

static bool is_inherited(VALUE sockets, long index)
{
    return RTEST(RARRAY_AREF(RARRAY_AREF(sockets, index), 2));
}

void rb_uw_listening_add(VALUE sockets, VALUE socket, VALUE context, VALUE inherited)
{
    (void)rb_uw_tls_context(context);
    if (RARRAY_LEN(sockets) >= UW_LISTENERS_MAX)
        rb_raise(rb_eArgError, "a server listens on at most %d sockets", UW_LISTENERS_MAX);
    rb_ary_push(sockets, rb_ary_new_from_args(3, socket, context, inherited));
}

long rb_uw_listening_retain(VALUE sockets, struct rb_uw_listening *listening)
{
    long count = RARRAY_LEN(sockets);

    for (long i = 0; i < count; i++)
        listening[i] =
            (struct rb_uw_listening){.fd = NUM2INT(rb_funcall(socket_of(sockets, i), rb_intern("fileno"), 0)),
                                     .inherited = is_inherited(sockets, i)};
    for (long i = 0; i < count; i++) /* now that nothing is raised any more */
        listening[i].tls = uw_tls_context_retain(rb_uw_tls_context(context_of(sockets, i)));
    return count;
}

void rb_uw_listening_release(struct rb_uw_listening *listening, long count)
{
    for (long i = 0; i < count; i++)
        uw_tls_context_release(listening[i].tls);
}

static int open_one(struct uw_server *server, const struct rb_uw_listening *one)
{
    return one->inherited ? uw_server_listen_inherited(server, one->fd, one->tls)
                          : uw_server_listen_tls(server, one->fd, one->tls);
}

int rb_uw_listening_open(struct uw_server *server, const struct rb_uw_listening *listening, long count)
{
    int error = 0;

    for (long i = 0; i < count && !error; i++)
        error = open_one(server, &listening[i]);
    return error;
}

static void post(struct uw_server *server, long index, VALUE context)
{
    if (uw_server_reload_tls(server, (int)index, rb_uw_tls_context(context)))
        rb_memerror();
}

void rb_uw_listening_renew(VALUE sockets, VALUE socket, VALUE context, struct uw_server *server)
{
    if (!rb_uw_tls_context(context))
        rb_raise(rb_eTypeError, "the TLS context must be an Upwell::TLSContext, not nil");
    for (long i = 0; i < RARRAY_LEN(sockets); i++) {
        if (socket_of(sockets, i) != socket || NIL_P(context_of(sockets, i)))
            continue;
        rb_ary_store(RARRAY_AREF(sockets, i), 1, context);
        if (server)
            post(server, i, context);
        return;
    }
    rb_raise(rb_eArgError, "the server does not listen on this socket with TLS");
}

void rb_uw_listening_catch_up(VALUE sockets, const struct rb_uw_listening *listening, long count,
                              struct uw_server *server)
{
    for (long i = 0; i < count; i++)
        if (rb_uw_tls_context(context_of(sockets, i)) != listening[i].tls)
            post(server, i, context_of(sockets, i));
}
