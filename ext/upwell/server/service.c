/* A request being served, and exceptions that another thread raises into the thread that serves it: those are the
 * request's whose they are, if they tell, or else that one's that runs. Ruby would raise them wherever the thread is
 * next: in the loop, in another request, between two. So Thread#raise of such a thread gets them only while a request
 * runs, and the thread goes on to nothing else before they have struck; a request that waits is interrupted by the
 * scheduler. */
#include "scheduler/scheduler.h"
#include "server/reactor.h"

static ID id_cause, id_env, id_reactor;
static VALUE mRaising, key_cause, key_hijack;

int rb_uw_service(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    int state = request->client ? rb_uw_serve_event(&reactor->host, request) : rb_uw_serve(&reactor->host, request);

    return rb_uw_end_or_log(state);
}

/* Thread#raise */

static VALUE exception_of(int argc, const VALUE *argv)
{
    return argc > 0 ? rb_make_exception(argc, argv) : rb_exc_new_cstr(rb_eRuntimeError, "unhandled exception");
}

/* Of `argv`, whose last is a Hash: the keywords beside the cause are the exception's own. */
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

/* Its cause is the one given, as for Kernel#raise, or else what the caller is about to rescue. */
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

/* A middleware may have handed on a copy, and taken out of env what it likes. */
static bool is_of(VALUE env, const struct rb_uw_exchange *exchange)
{
    return exchange->env == env || (!NIL_P(exchange->hijack) && rb_hash_lookup(env, key_hijack) == exchange->hijack);
}

/* The request of which `error` tells the env, as those of rack-timeout do: NULL when that is over. Returns whether it
 * tells one. */
static bool tells_request(const struct rb_uw_reactor *reactor, VALUE error, struct rb_uw_exchange **whose)
{
    VALUE env = rb_check_funcall(error, id_env, 0, NULL);

    *whose = NULL;
    if (env == Qundef || !RB_TYPE_P(env, T_HASH))
        return false;
    for (const struct uw_list *link = reactor->host.serving.next; link != &reactor->host.serving; link = link->next) {
        struct rb_uw_exchange *exchange = uw_owner(link, struct rb_uw_exchange, link);

        if (exchange->interruptible && is_of(env, exchange))
            *whose = exchange;
    }
    return true;
}

static bool runs(const struct rb_uw_exchange *exchange, VALUE thread)
{
    const struct rb_uw_scheduler *scheduler = exchange->host->scheduler;

    return exchange->interruptible && (scheduler ? exchange->fiber == scheduler->running : exchange->thread == thread);
}

/* What runs on `thread` now, or NULL. */
static struct rb_uw_exchange *running(const struct rb_uw_reactor *reactor, VALUE thread)
{
    for (const struct uw_list *link = reactor->host.serving.previous; link != &reactor->host.serving;
         link = link->previous) {
        struct rb_uw_exchange *exchange = uw_owner(link, struct rb_uw_exchange, link);

        if (runs(exchange, thread))
            return exchange;
    }
    return NULL;
}

/* Strikes before the scheduler has another fiber go on. */
static VALUE raise_here(struct rb_uw_reactor *reactor, struct rb_uw_exchange *whose, VALUE error)
{
    VALUE cause = rb_attr_get(error, id_cause), result;

    if (whose)
        whose->struck = true;
    if (reactor->host.scheduler)
        reactor->host.scheduler->struck = true;
    result = rb_call_super(1, &error);
    set_cause(error, cause); /* Thread#raise takes no other than $! before Ruby 4.0 */
    return result;
}

/*
 * Thread#raise, of a thread that serves requests: the exception is raised in the request that it names by its `env`, as
 * rack-timeout's do, or else in the one that runs. Where there is none, it is logged. What ends a thread or the process
 * does so.
 *
 * @return [nil]
 */
static VALUE raising_raise(int argc, VALUE *argv, VALUE thread)
{
    VALUE self = rb_attr_get(thread, id_reactor), error;
    struct rb_uw_exchange *whose;
    struct rb_uw_reactor *reactor;
    bool told;

    if (NIL_P(self) || thread == rb_thread_current() || rb_uw_ends_thread(error = make_exception(argc, argv)))
        return rb_call_super(argc, argv);
    reactor = rb_uw_reactor(self);
    if (rb_uw_host_is_copy(&reactor->host)) /* which serves nobody */
        return rb_call_super(argc, argv);
    told = tells_request(reactor, error, &whose); /* from here on, nothing lets the thread go on */
    if (!told)
        whose = running(reactor, thread);
    if (whose ? runs(whose, thread) : !told && rb_uw_strikes_anyway(error))
        return raise_here(reactor, whose, error);
    if (whose && reactor->host.scheduler)
        rb_uw_scheduler_interrupt(reactor->host.scheduler, whose->fiber, error);
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

void rb_uw_init_service(void)
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
