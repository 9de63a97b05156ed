/* One request from env to the end of its response. Whatever the application does, the client gets one complete
 * response, or sees from the connection's end that the response is incomplete. */
#include <string.h>

#include "rack/rack.h"
#include "scheduler/scheduler.h"

static ID id_call, id_report, id_set_backtrace;
static VALUE key_hijack, key_finished;

static const char error_text[] = "500 Internal Server Error\n";

void rb_uw_init_exchange(void)
{
    id_call = rb_intern("call");
    id_report = rb_intern("report");
    id_set_backtrace = rb_intern("set_backtrace");
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));
    rb_gc_register_mark_object(key_finished = rb_interned_str_cstr("rack.response_finished"));
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
        rb_raise(rb_eTypeError, "the application returned %+" PRIsVALUE " instead of [status, headers, body]",
                 rb_obj_class(response));
    exchange->status = RARRAY_AREF(array, 0);
    exchange->headers = RARRAY_AREF(array, 1);
    exchange->body = RARRAY_AREF(array, 2);
    if (RB_TYPE_P(exchange->headers, T_HASH))
        exchange->hijacker = rb_hash_lookup(exchange->headers, key_hijack);
}

/* After a full hijack the server ignores the response but for the body's close (Rack SPEC), which may release
 * resources. */
static void ignore_response(struct rb_uw_exchange *exchange, VALUE response)
{
    VALUE array = rb_check_array_type(response);

    if (!NIL_P(array) && RARRAY_LEN(array) == 3)
        exchange->closer = RARRAY_AREF(array, 2);
}

/* The context marks its fiber. */
static void add_to_serving(struct rb_uw_exchange *exchange)
{
    uw_list_append(&exchange->rack_context->serving, &exchange->link);
    RB_OBJ_WRITTEN(exchange->rack_context->self, Qundef, exchange->fiber);
}

void rb_uw_exchange_end(struct rb_uw_exchange *exchange)
{
    uw_list_remove(&exchange->link);
}

/* A thread of the application may be about to hijack. */
static void end_application(struct rb_uw_exchange *exchange)
{
    exchange->answered = true;
    rb_uw_await_users(exchange->lock);
}

static VALUE answer(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE response;

    exchange->env = rb_uw_env(exchange);
    exchange->interruptible = true;
    response = rb_funcallv(exchange->rack_context->app, id_call, 1, &exchange->env);
    end_application(exchange);
    if (exchange->hijacked) {
        ignore_response(exchange, response);
        return Qnil;
    }
    read_response(exchange, response);
    if (rb_uw_is_upgraded(exchange)) {
        rb_uw_upgrade(exchange);
        return Qnil;
    }
    if (exchange->request->head.upgrade)
        rb_uw_choose_protocol(exchange);
    rb_uw_body_prepare(exchange);
    rb_uw_response_head(exchange);
    rb_uw_body_send(exchange);
    return Qnil;
}

static VALUE report(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    return rb_funcall(rb_uw_error_log(), id_report, 2, exchange->error, exchange->env);
}

/* Whether the error passes on: it ends the process, or, in the child of a fork, that child's thread. */
static bool passes(const struct rb_uw_exchange *exchange, VALUE error)
{
    return rb_uw_rack_context_is_copy(exchange->rack_context) ? rb_uw_ends_thread(error) : rb_uw_ends_process(error);
}

/* Calls `function` with the exchange. Returns the error that it raises, or nil. */
static VALUE error_of(VALUE (*function)(VALUE), struct rb_uw_exchange *exchange, VALUE argument)
{
    VALUE error;
    int state;

    rb_protect(function, argument, &state);
    if (!state)
        return Qnil;
    error = rb_errinfo();
    if (passes(exchange, error))
        rb_jump_tag(state);
    rb_set_errinfo(Qnil);
    return error;
}

void rb_uw_exchange_report(struct rb_uw_exchange *exchange)
{
    error_of(report, exchange, (VALUE)exchange); /* a log that cannot be written must not end the server */
}

/* Whether the client has disconnected. Then an Errno::EPIPE or IOError only had to unwind the body. */
static bool client_left(const struct rb_uw_exchange *exchange)
{
    return exchange->request && atomic_load(&exchange->request->client_gone);
}

/* How to end a response that has begun. Where the framing shows the client that bytes are missing, the client gets the
 * bytes so far. */
static unsigned breaking_flag(const struct rb_uw_exchange *exchange)
{
    bool shows_end = uw_http_framing_shows_end(exchange->response.framing);

    return shows_end && !exchange->hijacked && !client_left(exchange) ? UW_CHUNK_CLOSE : UW_CHUNK_ABORT;
}

static void send_error(struct rb_uw_exchange *exchange)
{
    if (!rb_uw_is_spilling(exchange)) /* of a response that is, the chunk has whole pieces */
        drop_chunk(exchange);
    if (exchange->head_sent || exchange->hijacked || client_left(exchange)) {
        rb_uw_finish(exchange, breaking_flag(exchange));
        return;
    }
    exchange->status = INT2FIX(500);
    exchange->headers = rb_hash_new();
    exchange->hijacker = exchange->protocol = Qnil;
    rb_hash_aset(exchange->headers, rb_str_new_cstr("content-type"), rb_str_new_cstr("text/plain"));
    exchange->body = rb_ary_new_from_args(1, rb_str_new_cstr(error_text));
    rb_uw_response_head(exchange);
    rb_uw_body_send(exchange);
}

static VALUE close_body(VALUE argument)
{
    rb_uw_body_close((struct rb_uw_exchange *)argument);
    return Qnil;
}

static VALUE close_or_report(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;
    VALUE error = error_of(close_body, exchange, argument);

    if (NIL_P(error))
        return Qnil;
    exchange->error = error;
    rb_uw_exchange_report(exchange);
    return Qnil;
}

static VALUE report_end(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    exchange->error =
        rb_exc_new_cstr(rb_eUpwellError, "the application ended the thread or the fiber that ran the request");
    rb_funcall(exchange->error, id_set_backtrace, 1, rb_ary_new()); /* the error has no backtrace */
    rb_uw_exchange_report(exchange);
    return Qnil;
}

void rb_uw_exchange_report_end(struct rb_uw_exchange *exchange)
{
    report_end((VALUE)exchange);
}

static VALUE send_error_of(VALUE argument)
{
    send_error((struct rb_uw_exchange *)argument);
    return Qnil;
}

/* Rescues an error of the application, or of sending its response. */
static VALUE fail(VALUE argument, VALUE error)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        rb_exc_raise(error);
    exchange->error = error;
    rb_uw_end_interrupts(exchange); /* the client is owed an answer: no other exception shall end this */
    rb_uw_end_callables(exchange);
    end_application(exchange);
    if (!client_left(exchange) && !rb_uw_ends_process(error))
        rb_uw_exchange_report(exchange);
    if (!exchange->done)
        error_of(send_error_of, exchange, argument);
    if (rb_uw_ends_process(error))
        rb_exc_raise(error);
    return Qnil;
}

/* The request is always returned to the server, even after a failure. */
static void force_finish(struct rb_uw_exchange *exchange)
{
    drop_chunk(exchange);
    exchange->response.keep_alive = false;
    rb_uw_finish(exchange, exchange->hijacked ? 0 : UW_CHUNK_ABORT);
}

struct callback {
    VALUE callable;
    struct rb_uw_exchange *exchange;
};

static VALUE call_back(VALUE argument)
{
    const struct callback *callback = (const struct callback *)argument;
    const struct rb_uw_exchange *exchange = callback->exchange;

    return rb_funcall(callback->callable, id_call, 4, exchange->env, exchange->status, exchange->headers,
                      exchange->error);
}

/* An exception from one callback affects no other callback, nor the client, which has its response. */
static void call_back_protected(VALUE callable, struct rb_uw_exchange *exchange)
{
    struct callback callback = {callable, exchange};
    VALUE before = exchange->error, error = error_of(call_back, exchange, (VALUE)&callback);

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
    VALUE callables = NIL_P(exchange->env) ? Qnil : rb_hash_lookup(exchange->env, key_finished);

    if (!RB_TYPE_P(callables, T_ARRAY) || RARRAY_LEN(callables) == 0)
        return Qnil;
    rb_uw_rack_context_flush(exchange->rack_context);
    if (exchange->client_gone && NIL_P(exchange->error))
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
    if (NIL_P(exchange->closer))
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
    uw_spooled_body_free(&exchange->spill);
    rb_uw_env_end(exchange);
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

    if (!exchange->done)
        force_finish(exchange);
    exchange->rack_context->ending++;
    return rb_ensure(tell_application, argument, end_telling, argument);
}

/* After Thread#kill, Fiber#kill, or a throw that is caught further out. */
static VALUE send_something(VALUE argument)
{
    error_of(send_error_of, (struct rb_uw_exchange *)argument, argument);
    return Qnil;
}

static VALUE end_response(VALUE argument)
{
    const struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (exchange->done || exchange->hijacked)
        return give_back(argument);
    return rb_ensure(send_something, argument, give_back, argument);
}

static VALUE end_service(VALUE argument)
{
    rb_uw_end_interrupts((struct rb_uw_exchange *)argument);
    return Qnil;
}

static VALUE end_exchange(VALUE argument)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    rb_uw_end_callables(exchange);
    if (NIL_P(exchange->lock))
        return end_response(argument);
    return rb_ensure(rb_uw_await_users, exchange->lock, end_response, argument);
}

VALUE rb_uw_exchange_complete(VALUE argument, VALUE (*end)(VALUE))
{
    if (rb_uw_rack_context_is_copy(((struct rb_uw_exchange *)argument)->rack_context))
        return Qnil;
    return rb_ensure(end_service, argument, end, argument);
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

struct rb_uw_exchange rb_uw_exchange_of_request(struct rb_uw_rack_context *rack_context, struct uw_request *request)
{
    return (struct rb_uw_exchange){
        .rack_context = rack_context,
        .request = request,
        .env = Qnil,
        .spill = {.fd = -1},
        .input = Qnil,
        .hijack = Qnil,
        .early_hints = Qnil,
        .status = Qnil,
        .headers = Qnil,
        .body = Qnil,
        .closer = Qnil,
        .hijacker = Qnil,
        .protocol = Qnil,
        .error = Qnil,
        .lock = Qnil,
        .thread = rb_thread_current(),
        .fiber = rb_fiber_current(),
        .began_ns = rack_context->busy_since_ns ? rack_context->busy_since_ns : uw_clock_ns(),
    };
}

int rb_uw_exchange_run(struct rb_uw_exchange *exchange, VALUE (*function)(VALUE))
{
    int state;

    exchange->request->user = exchange;
    add_to_serving(exchange);
    rb_protect(function, (VALUE)exchange, &state);
    /* The child of a fork within a request goes no further, and ends as it would behind the block of that fork: all
     * that is further out is its parent's. */
    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        ruby_stop(state);
    return state;
}

int rb_uw_serve(struct rb_uw_rack_context *rack_context, struct uw_request *request)
{
    struct rb_uw_exchange exchange = rb_uw_exchange_of_request(rack_context, request);

    rb_uw_outcome_begin(&exchange);
    return rb_uw_exchange_run(&exchange, answer_and_complete);
}

static bool has_loop(const struct rb_uw_rack_context *rack_context, const struct rb_uw_exchange *exchange)
{
    if (!rack_context->busy_since_ns)
        return false;
    return exchange->fiber == (rack_context->scheduler ? rack_context->scheduler->running : rack_context->root);
}

VALUE rb_uw_served_now(const struct rb_uw_rack_context *rack_context)
{
    VALUE served = rb_ary_new();
    int64_t now_ns = uw_clock_ns();

    if (rb_uw_rack_context_is_copy(rack_context)) /* which serves none, and other threads' stacks are gone there */
        return served;
    for (const struct uw_list *link = rack_context->serving.next; link != &rack_context->serving; link = link->next) {
        const struct rb_uw_exchange *exchange = uw_container_of(link, struct rb_uw_exchange, link);
        double seconds = (double)(now_ns - exchange->began_ns) / (double)UW_NS_PER_SECOND;

        rb_ary_push(served, rb_ary_new_from_args(4, exchange->env, exchange->thread, DBL2NUM(seconds),
                                                 has_loop(rack_context, exchange) ? Qtrue : Qfalse));
    }
    return served;
}
