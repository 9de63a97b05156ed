#include "rack/async_exceptions.h"

#include <string.h>

#include "base/module.h"
#include "base/process_exceptions.h"
#include "base/unwinding.h"

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

bool rb_uw_interrupts_anyway(VALUE error)
{
    return is_timeout(error) || within_timeout();
}
