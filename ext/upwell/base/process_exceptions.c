/* Ruby raises SystemExit and SignalException for the process inside the main thread's current code, which may be a
 * request. Such an exception looks like one that the request itself has raised. So a hook notes the origin. */
#include "base/process_exceptions.h"

#include <ruby/debug.h>

#include "base/unwinding.h"

/* Marshal omits an instance variable of the name that Ruby itself uses for encodings, and WeakMap of Ruby 3.1 does not
 * survive GC.compact. */
static ID id_origin; /* not seen from Ruby: the thread that raised the exception first, or true for the process */
static VALUE hook;

static bool on_main_thread(void)
{
    return rb_thread_current() == rb_thread_main();
}

/* A trap handler must not lock a mutex; Ruby offers no other test for a trap handler. */
static bool in_trap_handler(void)
{
    VALUE mutex = rb_mutex_new();
    int state;

    if (!on_main_thread())
        return false;
    rb_protect(rb_mutex_lock, mutex, &state);
    if (state)
        rb_set_errinfo(Qnil);
    else
        rb_mutex_unlock(mutex);
    return state;
}

static bool is_process_exception(VALUE error)
{
    return rb_uw_is_error(error, rb_eSystemExit) || rb_uw_is_error(error, rb_eSignal);
}

static void note(VALUE event, void *unused)
{
    VALUE error = rb_tracearg_raised_exception(rb_tracearg_from_tracepoint(event));

    (void)unused;
    if (is_process_exception(error) && !OBJ_FROZEN(error) && NIL_P(rb_attr_get(error, id_origin)))
        rb_ivar_set(error, id_origin, in_trap_handler() ? Qtrue : rb_thread_current());
}

void rb_uw_note_process_exceptions(void)
{
    if (!NIL_P(hook))
        return;
    hook = rb_tracepoint_new(Qnil, RUBY_EVENT_RAISE, note, NULL);
    rb_tracepoint_enable(hook);
}

void rb_uw_mark_for_process(VALUE error)
{
    if (!OBJ_FROZEN(error))
        rb_ivar_set(error, id_origin, Qtrue);
}

bool rb_uw_ends_process(VALUE error)
{
    VALUE origin;

    if (!rb_uw_is_error(error, rb_eException))
        return true;
    if (!is_process_exception(error))
        return false;
    origin = rb_attr_get(error, id_origin);
    if (origin == Qtrue)
        return true;
    return rb_uw_is_error(error, rb_eSystemExit) && on_main_thread() && !NIL_P(origin) && origin != rb_thread_current();
}

void rb_uw_init_process_exceptions(void)
{
    id_origin = rb_intern("encoding");
    hook = Qnil;
    rb_gc_register_address(&hook);
}
