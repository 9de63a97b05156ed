/* What other threads raise into one that serves requests: it strikes a request, ends the thread, or is logged. */
#include <string.h>

#include "base/interrupts.h"
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

/* Timeout.timeout { reactor.run }, or what ends a thread anyway. A time-out that comes too late for its block, as may
 * happen on Ruby 3.1, does not. */
static bool ends_server(VALUE error)
{
    return rb_uw_ends_thread(error) || (is_timeout(error) && within_timeout());
}

VALUE rb_uw_error_log(void)
{
    return rb_const_get(rb_mUpwell, rb_intern("ErrorLog"));
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

/* Of a `state` of rb_protect: what was raised is logged, or the state returned of what is to end the thread. */
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

/* Raises what was raised for the request. */
static VALUE strike(VALUE argument)
{
    const struct rb_uw_exchange *exchange = (const struct rb_uw_exchange *)argument;

    if (exchange->struck)
        rb_uw_take_interrupts();
    else
        rb_thread_check_ints();
    return Qnil;
}

static bool may_strike(const struct rb_uw_exchange *exchange)
{
    return exchange->struck || rb_thread_interrupted(exchange->thread);
}

static bool strikes(const struct rb_uw_exchange *exchange)
{
    int state, ending;

    rb_protect(strike, (VALUE)exchange, &state);
    ending = rb_uw_end_or_log(state);
    if (ending)
        rb_jump_tag(ending);
    return state;
}

/* What comes too late for a request is nobody else's. */
static void drop_interrupts(const struct rb_uw_exchange *exchange)
{
    while (may_strike(exchange) && strikes(exchange))
        ;
}

void rb_uw_end_strikes(struct rb_uw_exchange *exchange)
{
    struct rb_uw_scheduler *scheduler = exchange->host->scheduler;

    exchange->interruptible = false;
    if (scheduler)
        rb_uw_scheduler_spare(scheduler, exchange->fiber);
    drop_interrupts(exchange);
}

bool rb_uw_strikes_anyway(VALUE error)
{
    return is_timeout(error) || within_timeout();
}
