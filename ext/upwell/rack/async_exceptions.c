/* Exceptions that other threads raise into a serving thread: each interrupts a request, ends the thread, or is
 * logged. */
#include <string.h>

#include "base/pending_interrupts.h"
#include "rack/rack.h"
#include "scheduler/scheduler.h"

static bool is_timeout(VALUE error)
{
    return strncmp(rb_obj_classname(error), "Timeout::", strlen("Timeout::")) == 0;
}

static bool within_timeout(void)
{
    VALUE frames = rb_make_backtrace();

    for (long i = 0; i < RARRAY_LEN(frames); i++) {
        VALUE frame = RARRAY_AREF(frames, i);

        if (strstr(StringValueCStr(frame), "/timeout.rb:"))
            return true;
    }
    return false;
}

/* Timeout.timeout { reactor.run } ends the server, and so does any exception that ends a thread. A time-out too late
 * for its block, as on Ruby 3.1, does not. */
static bool ends_server(VALUE error)
{
    return rb_uw_ends_thread(error) || (is_timeout(error) && within_timeout());
}

VALUE rb_uw_error_log(void)
{
    return rb_const_get(rb_mUpwell, rb_intern("ExceptionLog"));
}

static VALUE log_stray(VALUE error)
{
    return rb_funcall(rb_uw_error_log(), rb_intern("stray"), 1, error);
}

void rb_uw_log_stray(VALUE error)
{
    int state;

    rb_protect(log_stray, error, &state);
    if (state)
        rb_set_errinfo(Qnil);
}

/* Logs the exception of `state`, which rb_protect returned. Returns the state of an exception that ends the thread,
 * else 0. */
int rb_uw_end_or_log(int state)
{
    VALUE error;

    if (!state || ends_server(error = rb_errinfo()))
        return state;
    rb_set_errinfo(Qnil);
    rb_uw_log_stray(error);
    return 0;
}

int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument)
{
    int state;

    rb_protect(function, argument, &state);
    return rb_uw_end_or_log(state);
}

/* Raises exceptions of other threads for the request. */
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

bool rb_uw_interrupts_anyway(VALUE error)
{
    return is_timeout(error) || within_timeout();
}
