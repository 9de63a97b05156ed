#include "rack/exchange.h"

#include "base/module.h"
#include "base/pending_interrupts.h"
#include "base/process_exceptions.h"
#include "base/unwinding.h"
#include "rack/async_exceptions.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_block.h"

static ID id_report, id_set_backtrace;

void rb_uw_init_exchange(void)
{
    id_report = rb_intern("report");
    id_set_backtrace = rb_intern("set_backtrace");
}

/* Beginning and end */

void rb_uw_exchange_init(struct rb_uw_exchange *exchange, struct rb_uw_rack_context *rack_context,
                         struct uw_request *core)
{
    *exchange = (struct rb_uw_exchange){
        .rack_context = rack_context,
        .thread = rb_thread_current(),
        .fiber = rb_fiber_current(),
        .began_ns = rack_context->busy_since_ns ? rack_context->busy_since_ns : uw_clock_ns(),
        .error = Qnil,
        .request = {.delivery = &exchange->delivery, .env = Qnil, .input = Qnil, .hijack = Qnil, .early_hints = Qnil},
        .response = {.request = &exchange->request,
                     .delivery = &exchange->delivery,
                     .status = Qnil,
                     .headers = Qnil,
                     .body = Qnil,
                     .closer = Qnil,
                     .hijacker = Qnil,
                     .protocol = Qnil},
        .delivery = {.rack_context = rack_context, .core = core, .lock = Qnil, .spill = {.fd = -1}},
    };
}

/* The object of the context marks the fiber. */
static void add_to_serving(struct rb_uw_exchange *exchange)
{
    uw_list_append(&exchange->rack_context->serving, &exchange->link);
    RB_OBJ_WRITTEN(exchange->rack_context->self, Qundef, exchange->fiber);
}

int rb_uw_exchange_run(struct rb_uw_exchange *exchange, VALUE (*function)(VALUE))
{
    int state;

    exchange->delivery.core->user = &exchange->request;
    add_to_serving(exchange);
    rb_protect(function, (VALUE)exchange, &state);
    /* The child of a fork within a request goes no further, and ends as it would behind the block of that fork: all
     * that is further out is its parent's. */
    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        ruby_stop(state);
    return state;
}

static VALUE end_service(VALUE argument)
{
    rb_uw_end_interrupts((struct rb_uw_exchange *)argument);
    return Qnil;
}

VALUE rb_uw_exchange_complete(VALUE argument, VALUE (*end)(VALUE))
{
    if (rb_uw_rack_context_is_copy(((struct rb_uw_exchange *)argument)->rack_context))
        return Qnil;
    return rb_ensure(end_service, argument, end, argument);
}

void rb_uw_exchange_end(struct rb_uw_exchange *exchange)
{
    uw_list_remove(&exchange->link);
}

/* Exceptions of other threads */

/* Raises them for the request. */
static VALUE raise_pending(VALUE argument)
{
    const struct rb_uw_exchange *exchange = (const struct rb_uw_exchange *)argument;

    if (exchange->interrupted)
        rb_uw_take_interrupts();
    else
        rb_thread_check_ints();
    return Qnil;
}

static bool has_pending(const struct rb_uw_exchange *exchange)
{
    return exchange->interrupted || rb_thread_interrupted(exchange->thread);
}

static bool protect_raise_pending(const struct rb_uw_exchange *exchange)
{
    int state, ending;

    rb_protect(raise_pending, (VALUE)exchange, &state);
    ending = rb_uw_end_or_log(state);
    if (ending)
        rb_jump_tag(ending);
    return state;
}

/* An exception too late for its request is dropped, so that no other request gets it. */
static void drop_interrupts(const struct rb_uw_exchange *exchange)
{
    while (has_pending(exchange) && protect_raise_pending(exchange))
        ;
}

void rb_uw_end_interrupts(struct rb_uw_exchange *exchange)
{
    struct rb_uw_scheduler *scheduler = exchange->rack_context->scheduler;

    exchange->interruptible = false;
    if (scheduler)
        rb_uw_scheduler_spare(scheduler, exchange->fiber);
    drop_interrupts(exchange);
}

/* Errors */

static bool passes(const struct rb_uw_exchange *exchange, VALUE error)
{
    return rb_uw_rack_context_is_copy(exchange->rack_context) ? rb_uw_ends_thread(error) : rb_uw_ends_process(error);
}

VALUE rb_uw_exchange_error_of(const struct rb_uw_exchange *exchange, VALUE (*function)(VALUE), VALUE argument)
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

static VALUE report(VALUE argument)
{
    const struct rb_uw_exchange *exchange = (const struct rb_uw_exchange *)argument;

    return rb_funcall(rb_uw_error_log(), id_report, 2, exchange->error, exchange->request.env);
}

void rb_uw_exchange_report(struct rb_uw_exchange *exchange)
{
    /* A log that cannot be written must not end the server. */
    rb_uw_exchange_error_of(exchange, report, (VALUE)exchange);
}

void rb_uw_exchange_report_end(struct rb_uw_exchange *exchange)
{
    exchange->error = rb_exc_new_cstr(rb_eUpwellError, "the application ended the thread or the fiber of the request, "
                                                       "for example by Thread.exit; return a response instead");
    rb_funcall(exchange->error, id_set_backtrace, 1, rb_ary_new()); /* the error has no backtrace */
    rb_uw_exchange_report(exchange);
}

/* All exchanges */

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

        rb_ary_push(served, rb_ary_new_from_args(4, exchange->request.env, exchange->thread, DBL2NUM(seconds),
                                                 has_loop(rack_context, exchange) ? Qtrue : Qfalse));
    }
    return served;
}

/* A fiber that waits for other things than the loop may have no other reference, and its stack has an exchange. A copy
 * has no serving fibers, since other threads' stacks are gone. */
void rb_uw_exchanges_mark(const struct rb_uw_rack_context *rack_context)
{
    if (rb_uw_rack_context_is_copy(rack_context))
        return;
    for (const struct uw_list *link = rack_context->serving.next; link != &rack_context->serving; link = link->next)
        rb_gc_mark(uw_container_of(link, struct rb_uw_exchange, link)->fiber);
}
