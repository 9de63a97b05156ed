#include "rack/hijack_class.h"

#include "base/module.h"
#include "rack/delivery_lock.h"
#include "rack/env_callables.h"
#include "rack/hijack_detach.h"
#include "rack/outcome.h"

static VALUE cHijack;
static VALUE key_hijack_io;

VALUE rb_uw_hijack_new(struct uw_request *core)
{
    return rb_uw_callable_new(cHijack, core);
}

static VALUE hijack(VALUE self)
{
    struct rb_uw_rack_request *request = rb_uw_callable_request(self, "rack.hijack");
    VALUE io;

    if (request->delivery->hijacked)
        return rb_hash_lookup(request->env, key_hijack_io);
    if (request->answered)
        rb_raise(rb_eIOError, "rack.hijack was called after the application returned its response; call it before");
    rb_hash_aset(request->env, key_hijack_io, Qnil); /* raises while env is frozen or iterated: better before */
    rb_uw_outcome_note_hijack(request->delivery);
    io = rb_uw_detach(request->delivery, NULL);
    if (NIL_P(io)) {
        rb_hash_delete(request->env, key_hijack_io);
        rb_uw_refuse_hijack();
    }
    request->delivery->hijacked = true;
    rb_hash_aset(request->env, key_hijack_io, io);
    return io;
}

/*
 * Full hijack (Rack SPEC): the application takes the connection over; its response is ignored. Except in mode
 * +inline+, any thread may call it.
 *
 * @return [TCPSocket, UNIXSocket, TLS::HijackedSocket] reads return bytes that the server has already received first;
 * a second call returns the same socket
 * @raise [IOError] once the application has returned its response; when the client disconnected, or has not read the
 * responses to its earlier requests; in mode +inline+ when another thread than the one that runs the request calls it
 */
static VALUE hijack_call(VALUE self)
{
    struct rb_uw_delivery *delivery = rb_uw_callable_request(self, "rack.hijack")->delivery;

    if (!delivery->rack_context->one_thread)
        return rb_mutex_synchronize(rb_uw_delivery_lock(delivery), hijack, self);
    if (!pthread_equal(pthread_self(), delivery->rack_context->thread))
        rb_raise(rb_eIOError, "in mode inline only the thread that runs the request can hijack its connection; use "
                              "mode fibers or threads:N to hijack from other threads");
    return hijack(self);
}

void rb_uw_init_hijack(void)
{
    rb_gc_register_mark_object(key_hijack_io = rb_interned_str_cstr("rack.hijack_io"));
    /* Document-class: Upwell::Hijack
     * The object in <tt>env["rack.hijack"]</tt>: detaches the connection for the application. */
    cHijack = rb_define_class_under(rb_mUpwell, "Hijack", rb_cObject);
    rb_undef_alloc_func(cHijack);
    rb_define_method(cHijack, "call", hijack_call, 0);
}
