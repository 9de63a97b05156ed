/* One request from env to the end of its response: whatever the application does, the client gets one complete answer,
 * or sees by the way the connection ends that it did not. */
#include <string.h>

#include "reactor.h"

static ID id_call, id_report;
static VALUE key_hijack;

static const char error_text[] = "500 Internal Server Error\n";

void rb_uw_init_exchange(void)
{
    id_call = rb_intern("call");
    id_report = rb_intern("report");
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));
}

static void drop_chunk(struct rb_uw_exchange *exchange)
{
    if (exchange->chunk)
        uw_chunk_free(exchange->chunk);
    exchange->chunk = NULL;
}

static void read_response(struct rb_uw_exchange *exchange, VALUE response)
{
    VALUE array = rb_check_array_type(response);

    if (NIL_P(array) || RARRAY_LEN(array) != 3)
        rb_raise(rb_eTypeError, "the application answered with %+" PRIsVALUE " instead of [status, headers, body]",
                 rb_obj_class(response));
    exchange->status = RARRAY_AREF(array, 0);
    exchange->headers = RARRAY_AREF(array, 1);
    exchange->body = RARRAY_AREF(array, 2);
    if (RB_TYPE_P(exchange->headers, T_HASH))
        exchange->hijacker = rb_hash_lookup(exchange->headers, key_hijack);
}

static VALUE send_body(VALUE argument)
{
    rb_uw_body_send((struct rb_uw_exchange *)argument);
    return Qnil;
}

static void complete(struct rb_uw_exchange *exchange, int state);

/* The rest of a streaming response, on a fiber of its own: while the client does not keep up, the loop goes on. The
 * exchange moves to this fiber's stack, where the collector sees what it refers to. */
static VALUE stream(RB_BLOCK_CALL_FUNC_ARGLIST(unused, argument))
{
    struct rb_uw_exchange exchange = *(struct rb_uw_exchange *)argument;
    int state = 0;

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    exchange.request->user = &exchange;
    exchange.suspendable = true;
    rb_protect(send_body, (VALUE)&exchange, &state);
    complete(&exchange, state);
    return Qnil;
}

static void send_on_fiber(struct rb_uw_exchange *exchange)
{
    VALUE fiber = rb_fiber_new(stream, (VALUE)exchange);

    exchange->moved = true;
    rb_fiber_transfer(fiber, 0, NULL);
}

static VALUE answer(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    exchange->env = rb_uw_env(exchange);
    read_response(exchange, rb_funcallv(exchange->reactor->app, id_call, 1, &exchange->env));
    if (exchange->hijacked)
        return Qnil;
    rb_uw_body_prepare(exchange);
    rb_uw_response_head(exchange);
    if (exchange->reactor->mode->streams_apart && rb_uw_body_streams(exchange) && NIL_P(exchange->hijacker))
        send_on_fiber(exchange);
    else
        rb_uw_body_send(exchange);
    return Qnil;
}

static VALUE report(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE log = rb_const_get(rb_mUpwell, rb_intern("ErrorLog"));

    return rb_funcall(log, id_report, 2, exchange->error, exchange->env);
}

static void report_error(struct rb_uw_exchange *exchange)
{
    int state = 0;

    rb_protect(report, (VALUE)exchange, &state);
    if (state)
        rb_set_errinfo(Qnil); /* a log that cannot be written must not end the server */
}

/* An exception meant to end the thread or the process, not a fault of the application. */
static bool ends_thread(VALUE error)
{
    if (!RTEST(rb_obj_is_kind_of(error, rb_eException)))
        return true; /* Thread#kill, or a throw that is caught further out */
    return RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) || RTEST(rb_obj_is_kind_of(error, rb_eSignal));
}

/* The client left: its Errno::EPIPE or IOError has done its work by unwinding the body. */
static bool client_left(const struct rb_uw_exchange *exchange)
{
    return exchange->request && atomic_load(&exchange->request->lost);
}

/* How a response ends that has begun. Where its framing tells the client that something is missing, it gets what there
 * is. */
static unsigned breaking_flag(const struct rb_uw_exchange *exchange)
{
    bool framed = exchange->framing == RB_UW_SIZED || exchange->framing == RB_UW_CHUNKED;

    return framed && !exchange->hijacked && !client_left(exchange) ? UW_CHUNK_CLOSE : UW_CHUNK_ABORT;
}

static void send_error(struct rb_uw_exchange *exchange)
{
    drop_chunk(exchange);
    if (exchange->head_sent || exchange->hijacked || client_left(exchange)) {
        rb_uw_finish(exchange, breaking_flag(exchange));
        return;
    }
    exchange->status = INT2FIX(500);
    exchange->headers = rb_hash_new();
    exchange->hijacker = Qnil;
    rb_hash_aset(exchange->headers, rb_str_new_cstr("content-type"), rb_str_new_cstr("text/plain"));
    exchange->body = rb_ary_new_from_args(1, rb_str_new_cstr(error_text));
    exchange->body_written = 0;
    rb_uw_response_head(exchange);
    rb_uw_body_send(exchange);
}

static VALUE close_body(VALUE argument)
{
    rb_uw_body_close((struct rb_uw_exchange *)argument);
    return Qnil;
}

static void close_protected(struct rb_uw_exchange *exchange)
{
    int state = 0;

    if (NIL_P(exchange->closer))
        return;
    rb_protect(close_body, (VALUE)exchange, &state);
    if (state) {
        exchange->error = rb_errinfo();
        rb_set_errinfo(Qnil);
        report_error(exchange);
    }
}

static void end_callables(struct rb_uw_exchange *exchange)
{
    if (!NIL_P(exchange->hijack))
        rb_uw_callable_end(exchange->hijack);
    if (!NIL_P(exchange->early_hints))
        rb_uw_callable_end(exchange->early_hints);
    if (!NIL_P(exchange->input))
        rb_uw_input_end(exchange->input);
}

static VALUE send_error_protected(VALUE argument)
{
    send_error((struct rb_uw_exchange *)argument);
    return Qnil;
}

/* Whatever else fails, the request is given back. */
static void force_finish(struct rb_uw_exchange *exchange)
{
    drop_chunk(exchange);
    exchange->finished = Qnil;
    exchange->keep_alive = false;
    rb_uw_finish(exchange, exchange->hijacked ? 0 : UW_CHUNK_ABORT);
}

static void fail(struct rb_uw_exchange *exchange, VALUE error)
{
    int state = 0;

    exchange->error = error;
    if (!client_left(exchange) && !ends_thread(error))
        report_error(exchange);
    if (exchange->done)
        return;
    rb_protect(send_error_protected, (VALUE)exchange, &state);
    if (state)
        rb_set_errinfo(Qnil);
}

/* After the response, or the failure to make one. */
static void complete(struct rb_uw_exchange *exchange, int state)
{
    VALUE error = state ? rb_errinfo() : Qnil;

    if (state) {
        rb_set_errinfo(Qnil);
        fail(exchange, error);
    }
    if (!exchange->done)
        force_finish(exchange);
    end_callables(exchange);
    close_protected(exchange);
    if (state && ends_thread(error)) {
        rb_set_errinfo(error);
        rb_jump_tag(state);
    }
}

void rb_uw_serve(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    struct rb_uw_exchange exchange = {
        .reactor = reactor,
        .request = request,
        .env = Qnil,
        .input = Qnil,
        .hijack = Qnil,
        .early_hints = Qnil,
        .finished = Qnil,
        .status = Qnil,
        .headers = Qnil,
        .body = Qnil,
        .closer = Qnil,
        .hijacker = Qnil,
        .error = Qnil,
    };
    int state = 0;

    request->user = &exchange;
    rb_protect(answer, (VALUE)&exchange, &state);
    if (!exchange.moved)
        complete(&exchange, state);
}

static VALUE tell_finished(VALUE argument)
{
    /* [callables, env, status, headers, error] */
    VALUE told = argument, callables = rb_ary_entry(told, 0);

    for (long i = RARRAY_LEN(callables) - 1; i >= 0; i--)
        rb_funcall(RARRAY_AREF(callables, i), id_call, 4, rb_ary_entry(told, 1), rb_ary_entry(told, 2),
                   rb_ary_entry(told, 3), rb_ary_entry(told, 4));
    return Qnil;
}

void rb_uw_serve_sent(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    VALUE told = rb_uw_take_kept(reactor, request);
    int state = 0;

    if (!request->complete && NIL_P(rb_ary_entry(told, 4)))
        rb_ary_store(told, 4, rb_exc_new_cstr(rb_eIOError, "the client left before the response was complete"));
    uw_request_release(request);
    rb_protect(tell_finished, told, &state);
    if (state) {
        struct rb_uw_exchange exchange = {.error = rb_errinfo(), .env = rb_ary_entry(told, 1)};

        rb_set_errinfo(Qnil);
        report_error(&exchange);
    }
    RB_GC_GUARD(told);
}
