/* A request being served, and exceptions that another thread raises into the serving thread. Such an exception goes to
 * the request it names, otherwise to the running request. Ruby would raise it wherever the thread is: in the loop, in
 * another request, or between two. So Thread#raise raises it only while a request runs, and the thread starts nothing
 * else before that. The scheduler interrupts a request that waits. */
#include "server/thread_raise.h"

#include "base/process_exceptions.h"
#include "base/unwinding.h"
#include "rack/answer.h"
#include "rack/async_exceptions.h"
#include "rack/client_events.h"
#include "rack/exchange.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_block.h"

static ID id_cause, id_env, id_reactor;
static VALUE mRaising, key_cause, key_hijack;

int rb_uw_serve_interruptible(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    int state = request->client ? rb_uw_serve_event(&reactor->rack_context, request)
                                : rb_uw_serve(&reactor->rack_context, request);

    return rb_uw_end_or_log(state);
}

/* Thread#raise */

static VALUE exception_of(int argc, const VALUE *argv)
{
    return argc > 0 ? rb_make_exception(argc, argv) : rb_exc_new_cstr(rb_eRuntimeError, "unhandled exception");
}

/* Builds the exception of `argv`, whose last element is a Hash: the keywords other than the cause belong to the
 * exception. */
static VALUE exception_of_others(int argc, const VALUE *argv)
{
    VALUE arguments = rb_ary_new_from_values(argc - 1, argv), others = rb_hash_dup(argv[argc - 1]), error;

    rb_hash_delete(others, key_cause);
    if (!RHASH_EMPTY_P(others))
        rb_ary_push(arguments, others);
    error = exception_of(RARRAY_LENINT(arguments), RARRAY_CONST_PTR(arguments));
    RB_GC_GUARD(arguments);
    return error;
}

/* Ruby keeps it like this, and has no function that sets it but those that raise. */
static void set_cause(VALUE error, VALUE cause)
{
    if (cause != error && !OBJ_FROZEN(error))
        rb_ivar_set(error, id_cause, cause);
}

/* Sets the cause: the one given, as for Kernel#raise, or else the caller's current exception. */
static VALUE make_exception(int argc, const VALUE *argv)
{
    VALUE options = argc > 0 && rb_keyword_given_p() ? argv[argc - 1] : Qnil, error;
    VALUE given = NIL_P(options) ? Qundef : rb_hash_lookup2(options, key_cause, Qundef);
    VALUE cause = given == Qundef ? rb_gv_get("$!") : given;

    if (!NIL_P(cause) && !RTEST(rb_obj_is_kind_of(cause, rb_eException)))
        rb_raise(rb_eTypeError, "exception object expected");
    error = given == Qundef ? exception_of(argc, argv) : exception_of_others(argc, argv);
    if (given != Qundef || !NIL_P(cause))
        set_cause(error, cause);
    return error;
}

/* Compares the env, or its hijack object: a middleware may pass on a copy, and may remove entries from env. */
static bool is_of(VALUE env, const struct rb_uw_rack_request *request)
{
    return request->env == env || (!NIL_P(request->hijack) && rb_hash_lookup(env, key_hijack) == request->hijack);
}

/* Finds the request whose env `error` carries, as rack-timeout's exceptions do; NULL when that request is over. Returns
 * whether the error carries an env. */
static bool tells_request(const struct rb_uw_reactor *reactor, VALUE error, struct rb_uw_exchange **whose)
{
    VALUE env = rb_check_funcall(error, id_env, 0, NULL);

    *whose = NULL;
    if (env == Qundef || !RB_TYPE_P(env, T_HASH))
        return false;
    for (const struct uw_list *link = reactor->rack_context.serving.next; link != &reactor->rack_context.serving;
         link = link->next) {
        struct rb_uw_exchange *exchange = uw_container_of(link, struct rb_uw_exchange, link);

        if (exchange->interruptible && is_of(env, &exchange->request))
            *whose = exchange;
    }
    return true;
}

static bool runs(const struct rb_uw_exchange *exchange, VALUE thread)
{
    const struct rb_uw_scheduler *scheduler = exchange->rack_context->scheduler;

    return exchange->interruptible && (scheduler ? exchange->fiber == scheduler->running : exchange->thread == thread);
}

/* Returns the exchange that runs on `thread` now, or NULL. */
static struct rb_uw_exchange *running(const struct rb_uw_reactor *reactor, VALUE thread)
{
    for (const struct uw_list *link = reactor->rack_context.serving.previous; link != &reactor->rack_context.serving;
         link = link->previous) {
        struct rb_uw_exchange *exchange = uw_container_of(link, struct rb_uw_exchange, link);

        if (runs(exchange, thread))
            return exchange;
    }
    return NULL;
}

/* Raises before the scheduler resumes another fiber. */
static VALUE raise_here(struct rb_uw_reactor *reactor, struct rb_uw_exchange *whose, VALUE error)
{
    VALUE cause = rb_attr_get(error, id_cause), result;

    if (whose)
        whose->interrupted = true;
    if (reactor->rack_context.scheduler)
        reactor->rack_context.scheduler->interrupted = true;
    result = rb_call_super(1, &error);
    set_cause(error, cause); /* Thread#raise takes no other than $! before Ruby 4.0 */
    return result;
}

static VALUE raise_for_process(VALUE error)
{
    rb_uw_mark_for_process(error);
    return rb_call_super(1, &error);
}

/*
 * Thread#raise of a serving thread: raises the exception in the request whose `env` the exception carries, as
 * rack-timeout's do, otherwise in the running request. Without such a request the exception is logged. An exception
 * that ends a thread or the process does so.
 *
 * @return [nil]
 */
static VALUE raising_raise(int argc, VALUE *argv, VALUE thread)
{
    VALUE self = rb_attr_get(thread, id_reactor), error;
    struct rb_uw_exchange *whose;
    struct rb_uw_reactor *reactor;
    bool told;

    if (NIL_P(self) || thread == rb_thread_current())
        return rb_call_super(argc, argv);
    error = make_exception(argc, argv);
    if (rb_uw_ends_thread(error))
        return raise_for_process(error);
    reactor = rb_uw_reactor(self);
    if (rb_uw_rack_context_is_copy(&reactor->rack_context)) /* a copy serves no requests */
        return rb_call_super(argc, argv);
    told = tells_request(reactor, error, &whose); /* the thread cannot continue after this */
    if (!told)
        whose = running(reactor, thread);
    if (whose ? runs(whose, thread) : !told && rb_uw_interrupts_anyway(error))
        return raise_here(reactor, whose, error);
    if (whose && reactor->rack_context.scheduler)
        rb_uw_scheduler_interrupt(reactor->rack_context.scheduler, whose->fiber, error);
    else
        rb_uw_log_stray(error);
    return Qnil;
}

void rb_uw_guard_thread(VALUE reactor)
{
    VALUE thread = rb_thread_current();

    rb_extend_object(thread, mRaising);
    rb_ivar_set(thread, id_reactor, reactor);
}

void rb_uw_unguard_thread(void)
{
    rb_ivar_set(rb_thread_current(), id_reactor, Qnil);
}

void rb_uw_init_thread_raise(void)
{
    id_cause = rb_intern("cause"); /* not seen from Ruby either */
    id_env = rb_intern("env");
    id_reactor = rb_intern("upwell_reactor"); /* not seen from Ruby */
    key_cause = ID2SYM(id_cause);
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));

    /* Document-module: Upwell::Reactor::Raising
     * Extends each thread that serves requests. */
    mRaising = rb_define_module_under(rb_path2class("Upwell::Reactor"), "Raising");
    rb_define_method(mRaising, "raise", raising_raise, -1);
}
