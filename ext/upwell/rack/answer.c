#include "rack/answer.h"

#include "base/process_exceptions.h"
#include "rack/client_upgrade.h"
#include "rack/delivery_lock.h"
#include "rack/env_callables.h"
#include "rack/exchange.h"
#include "rack/object_description.h"
#include "rack/outcome.h"
#include "rack/rack_body.h"
#include "rack/rack_env.h"
#include "rack/rack_protocol.h"
#include "rack/response_stream.h"
#include "rack/spill_buffer.h"

static ID id_call;
static VALUE key_hijack, key_finished;

static const char error_text[] = "500 Internal Server Error\n";

void rb_uw_init_answer(void)
{
    id_call = rb_intern("call");
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));
    rb_gc_register_mark_object(key_finished = rb_interned_str_cstr("rack.response_finished"));
}

static void read_response(struct rb_uw_rack_response *response, VALUE returned)
{
    VALUE array = rb_check_array_type(returned);

    if (NIL_P(array) || RARRAY_LEN(array) != 3)
        rb_raise(rb_eTypeError, "the application returned %" PRIsVALUE " instead of [status, headers, body]",
                 rb_uw_described(returned));
    response->status = RARRAY_AREF(array, 0);
    response->headers = RARRAY_AREF(array, 1);
    response->body = RARRAY_AREF(array, 2);
    if (RB_TYPE_P(response->headers, T_HASH))
        response->hijacker = rb_hash_lookup(response->headers, key_hijack);
}

/* After a full hijack the server ignores the response but for the body's close (Rack SPEC), which may release
 * resources. */
static void ignore_response(struct rb_uw_rack_response *response, VALUE returned)
{
    VALUE array = rb_check_array_type(returned);

    if (!NIL_P(array) && RARRAY_LEN(array) == 3)
        response->closer = RARRAY_AREF(array, 2);
}

/* A thread of the application may be about to hijack. */
static void end_application(struct rb_uw_exchange *exchange)
{
    exchange->request.answered = true;
    rb_uw_await_users(exchange->delivery.lock);
}

static void send_response(struct rb_uw_rack_response *response)
{
    if (rb_uw_is_upgraded(response)) {
        rb_uw_upgrade(response);
        return;
    }
    if (response->delivery->core->head.upgrade)
        rb_uw_choose_protocol(response);
    rb_uw_body_prepare(response);
    rb_uw_response_head(response);
    rb_uw_body_send(response);
}

static VALUE answer(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE returned;

    rb_uw_env(&exchange->request);
    exchange->interruptible = true;
    returned = rb_funcallv(exchange->rack_context->app, id_call, 1, &exchange->request.env);
    end_application(exchange);
    if (exchange->delivery.hijacked) {
        ignore_response(&exchange->response, returned);
        return Qnil;
    }
    read_response(&exchange->response, returned);
    send_response(&exchange->response);
    return Qnil;
}

/* How to end a response that has begun. Where the framing shows the client that bytes are missing, the client gets the
 * bytes so far. */
static unsigned breaking_flag(const struct rb_uw_rack_response *response)
{
    const struct rb_uw_delivery *delivery = response->delivery;
    bool shows_end = uw_http_framing_shows_end(response->head.framing);

    return shows_end && !delivery->hijacked && !rb_uw_client_left(delivery) ? UW_CHUNK_CLOSE : UW_CHUNK_ABORT;
}

static void make_error(struct rb_uw_rack_response *response)
{
    response->status = INT2FIX(500);
    response->headers = rb_hash_new();
    response->hijacker = response->protocol = Qnil;
    rb_hash_aset(response->headers, rb_str_new_cstr("content-type"), rb_str_new_cstr("text/plain"));
    response->body = rb_ary_new_from_args(1, rb_str_new_cstr(error_text));
}

static void send_error(struct rb_uw_rack_response *response)
{
    struct rb_uw_delivery *delivery = response->delivery;

    if (!rb_uw_is_spilling(delivery)) /* of a response that is, the chunk has whole pieces */
        rb_uw_drop_chunk(delivery);
    if (delivery->head_sent || delivery->hijacked || rb_uw_client_left(delivery)) {
        rb_uw_finish(response, breaking_flag(response));
        return;
    }
    make_error(response);
    rb_uw_response_head(response);
    rb_uw_body_send(response);
}

static VALUE close_body(VALUE argument)
{
    rb_uw_body_close((struct rb_uw_rack_response *)argument);
    return Qnil;
}

static VALUE close_or_report(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE error = rb_uw_exchange_error_of(exchange, close_body, (VALUE)&exchange->response);

    if (NIL_P(error))
        return Qnil;
    exchange->error = error;
    rb_uw_exchange_report(exchange);
    return Qnil;
}

static VALUE report_end(VALUE argument)
{
    rb_uw_exchange_report_end((struct rb_uw_exchange *)argument);
    return Qnil;
}

static VALUE send_error_of(VALUE argument)
{
    send_error(&((struct rb_uw_exchange *)argument)->response);
    return Qnil;
}

/* Rescues an error of the application, or of sending its response. An Errno::EPIPE or IOError after the client has
 * disconnected only had to unwind the body. */
static VALUE fail(VALUE argument, VALUE error)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        rb_exc_raise(error);
    exchange->error = error;
    rb_uw_end_interrupts(exchange); /* the client is owed an answer: no other exception shall end this */
    rb_uw_end_callables(&exchange->request);
    end_application(exchange);
    if (!rb_uw_client_left(&exchange->delivery) && !rb_uw_ends_process(error))
        rb_uw_exchange_report(exchange);
    if (exchange->delivery.core)
        rb_uw_exchange_error_of(exchange, send_error_of, argument);
    if (rb_uw_ends_process(error))
        rb_exc_raise(error);
    return Qnil;
}

/* The request is always returned to the server, even after a failure. */
static void force_finish(struct rb_uw_rack_response *response)
{
    rb_uw_drop_chunk(response->delivery);
    response->head.keep_alive = false;
    rb_uw_finish(response, response->delivery->hijacked ? 0 : UW_CHUNK_ABORT);
}

struct callback {
    VALUE callable;
    struct rb_uw_exchange *exchange;
};

static VALUE call_back(VALUE argument)
{
    const struct callback *callback = (const struct callback *)argument;
    const struct rb_uw_exchange *exchange = callback->exchange;

    return rb_funcall(callback->callable, id_call, 4, exchange->request.env, exchange->response.status,
                      exchange->response.headers, exchange->error);
}

/* An exception from one callback affects no other callback, nor the client, which has its response. */
static void call_back_protected(VALUE callable, struct rb_uw_exchange *exchange)
{
    struct callback callback = {callable, exchange};
    VALUE before = exchange->error, error = rb_uw_exchange_error_of(exchange, call_back, (VALUE)&callback);

    if (NIL_P(error))
        return;
    exchange->error = error;
    rb_uw_exchange_report(exchange);
    exchange->error = before;
}

/* Runs the callables of env["rack.response_finished"], the last first, once the response has been handed over. They run
 * on the request's thread and fiber, before another request. So frameworks can release the request's resources. In a
 * child forked meanwhile none runs. */
static VALUE tell_finished(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE env = exchange->request.env, callables = NIL_P(env) ? Qnil : rb_hash_lookup(env, key_finished);

    if (!RB_TYPE_P(callables, T_ARRAY) || RARRAY_LEN(callables) == 0)
        return Qnil;
    rb_uw_rack_context_flush(exchange->rack_context);
    if (exchange->delivery.client_gone && NIL_P(exchange->error))
        exchange->error = rb_exc_new_cstr(rb_eIOError, "the client disconnected before the response was complete");
    for (long i = RARRAY_LEN(callables) - 1; i >= 0 && !rb_uw_rack_context_is_copy(exchange->rack_context); i--)
        call_back_protected(rb_ary_entry(callables, i), exchange);
    return Qnil;
}

static VALUE tell_application(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    bool returned = exchange->returned;

    exchange->returned = false;
    if (NIL_P(exchange->response.closer))
        tell_finished(argument);
    else
        rb_ensure(close_or_report, argument, tell_finished, argument);
    exchange->returned = returned;
    return Qnil;
}

static VALUE end_here(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    exchange->rack_context->ending--;
    uw_spooled_body_free(&exchange->delivery.spill);
    rb_uw_env_end(&exchange->request);
    rb_uw_exchange_end(exchange);
    return Qnil;
}

static VALUE end_telling(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        return Qnil;
    if (exchange->returned || !NIL_P(exchange->error))
        return end_here(argument);
    return rb_ensure(report_end, argument, end_here, argument);
}

static VALUE give_back(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (exchange->delivery.core)
        force_finish(&exchange->response);
    exchange->rack_context->ending++;
    return rb_ensure(tell_application, argument, end_telling, argument);
}

/* After Thread#kill, Fiber#kill, or a throw that is caught further out. */
static VALUE send_something(VALUE argument)
{
    rb_uw_exchange_error_of((struct rb_uw_exchange *)argument, send_error_of, argument);
    return Qnil;
}

static VALUE end_response(VALUE argument)
{
    const struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (!exchange->delivery.core || exchange->delivery.hijacked)
        return give_back(argument);
    return rb_ensure(send_something, argument, give_back, argument);
}

static VALUE end_exchange(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    rb_uw_end_callables(&exchange->request);
    if (NIL_P(exchange->delivery.lock))
        return end_response(argument);
    return rb_ensure(rb_uw_await_users, exchange->delivery.lock, end_response, argument);
}

/* After the response, or the failure to make one. */
static VALUE complete(VALUE argument)
{
    return rb_uw_exchange_complete(argument, end_exchange);
}

static VALUE answer_or_fail(VALUE argument)
{
    rb_rescue2(answer, argument, fail, argument, rb_eException, (VALUE)0);
    ((struct rb_uw_exchange *)argument)->returned = true;
    return Qnil;
}

static VALUE answer_and_complete(VALUE argument)
{
    return rb_ensure(answer_or_fail, argument, complete, argument);
}

int rb_uw_serve(struct rb_uw_rack_context *rack_context, struct uw_request *core)
{
    struct rb_uw_exchange exchange;

    rb_uw_exchange_init(&exchange, rack_context, core);
    rb_uw_outcome_begin(&exchange.delivery);
    return rb_uw_exchange_run(&exchange, answer_and_complete);
}
