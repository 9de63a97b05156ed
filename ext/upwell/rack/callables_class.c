/* Upwell::Hijack and Upwell::EarlyHints: what `rack.hijack` and `rack.early_hints` of an env answer to `call` with.
 * Each knows its request as long as that is being served. */
#include "server/reactor.h"

static VALUE cHijack, cEarlyHints;
static VALUE key_hijack_io;

/* The data pointer is the request itself: nothing to free, nothing to mark. */
static const rb_data_type_t callable_type = {
    .wrap_struct_name = "Upwell::Callable",
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE rb_uw_hijack_new(struct uw_request *request)
{
    return TypedData_Wrap_Struct(cHijack, &callable_type, request);
}

VALUE rb_uw_early_hints_new(struct uw_request *request)
{
    return TypedData_Wrap_Struct(cEarlyHints, &callable_type, request);
}

void rb_uw_callable_end(VALUE self)
{
    RTYPEDDATA_DATA(self) = NULL;
}

static struct rb_uw_exchange *exchange_of(VALUE self, const char *what)
{
    struct uw_request *request = rb_check_typeddata(self, &callable_type);

    if (!request)
        rb_raise(rb_eIOError, "%s was called after the end of its request", what);
    return rb_uw_exchange_of(request);
}

static VALUE hijack(VALUE self)
{
    struct rb_uw_exchange *exchange = exchange_of(self, "rack.hijack");
    VALUE io;

    if (exchange->hijacked)
        return rb_hash_lookup(exchange->env, key_hijack_io);
    if (exchange->answered)
        rb_raise(rb_eIOError, "rack.hijack was called after the application had answered");
    rb_hash_aset(exchange->env, key_hijack_io, Qnil); /* raises while env is frozen or iterated: better before */
    io = rb_uw_detach(exchange, NULL);
    if (NIL_P(io)) {
        rb_hash_delete(exchange->env, key_hijack_io);
        rb_uw_refuse_hijack();
    }
    exchange->hijacked = true;
    rb_hash_aset(exchange->env, key_hijack_io, io);
    return io;
}

/*
 * Full hijack (Rack SPEC): the application takes the connection over; its response is ignored. Any thread may call it,
 * but in mode +inline+.
 *
 * @return [TCPSocket, UNIXSocket] what the client sent ahead can be read from it first; the same when called again
 * @raise [IOError] once the application has answered; when the client is gone, or has not read the answers to its
 * requests before; in mode +inline+ when called by another thread than the one that serves
 */
static VALUE hijack_call(VALUE self)
{
    struct rb_uw_exchange *exchange = exchange_of(self, "rack.hijack");

    if (exchange->reactor->mode != &rb_uw_mode_inline)
        return rb_mutex_synchronize(rb_uw_exchange_lock(exchange), hijack, self);
    if (!pthread_equal(pthread_self(), exchange->reactor->thread))
        rb_raise(rb_eIOError, "in mode inline only the thread that serves a request hijacks its connection; use mode "
                              "fibers or threads:N to do so from others");
    return hijack(self);
}

static bool takes_hints(const struct rb_uw_exchange *exchange)
{
    return !exchange->head_sent && !exchange->hijacked && exchange->request->head.version_minor > 0;
}

/*
 * Sends an informational response 103 (RFC 8297) at once. Does nothing for HTTP/1.0, or once the response has begun.
 * Any thread may call it.
 *
 * @param headers [Hash{String => String, Array<String>}]
 * @return [nil]
 * @raise [ArgumentError] for a header that must not be sent
 * @raise [IOError] after the end of the request
 */
static VALUE early_hints_call(VALUE self, VALUE headers)
{
    struct rb_uw_exchange *exchange = exchange_of(self, "rack.early_hints");
    struct uw_request *request;
    struct uw_chunk *chunk;

    if (!takes_hints(exchange))
        return Qnil;
    chunk = rb_uw_response_early_hints(exchange->request->writer, exchange->reactor->newline_values, headers);
    /* Which may have run Ruby, and so other threads: nothing below does. The exchange may be over. */
    request = rb_check_typeddata(self, &callable_type);
    if (!request || !takes_hints(exchange = rb_uw_exchange_of(request))) {
        uw_chunk_free(chunk);
    } else {
        rb_uw_hand_over(exchange, chunk);
        rb_uw_push(exchange);
    }
    return Qnil;
}

void rb_uw_init_callables(void)
{
    rb_gc_register_mark_object(key_hijack_io = rb_interned_str_cstr("rack.hijack_io"));
    /* Document-class: Upwell::Hijack
     * What +rack.hijack+ of an env is: gives the connection to the application. */
    cHijack = rb_define_class_under(rb_mUpwell, "Hijack", rb_cObject);
    rb_undef_alloc_func(cHijack);
    rb_define_method(cHijack, "call", hijack_call, 0);
    /* Document-class: Upwell::EarlyHints
     * What +rack.early_hints+ of an env is: sends an informational response 103. */
    cEarlyHints = rb_define_class_under(rb_mUpwell, "EarlyHints", rb_cObject);
    rb_undef_alloc_func(cEarlyHints);
    rb_define_method(cEarlyHints, "call", early_hints_call, 1);
}
