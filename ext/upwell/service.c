/* A request being served, and exceptions that another thread raises into the thread that serves it: those are the
 * request's whose they are, if they tell, or else that one's that runs. Ruby would raise them wherever the thread is
 * next: in the loop, in another request, between two. So Thread#raise of such a thread gets them only while a request
 * runs, and the thread goes on to nothing else before they have struck; a request that waits is interrupted by the
 * scheduler. */
#include <string.h>

#include "reactor.h"
#include "scheduler.h"

static ID id_env, id_reactor;
static VALUE mRaising, key_hijack;

/* Is meant to end the thread or the process, and is no fault of the application. */
static bool ends_thread(VALUE error)
{
    if (!RTEST(rb_obj_is_kind_of(error, rb_eException)))
        return true; /* Thread#kill, or a throw that is caught further out */
    return RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) || RTEST(rb_obj_is_kind_of(error, rb_eSignal));
}

static VALUE log_stray(VALUE error)
{
    return rb_funcall(rb_const_get(rb_mUpwell, rb_intern("ErrorLog")), rb_intern("stray"), 1, error);
}

/* One that belongs to no request. */
static void log_stray_protected(VALUE error)
{
    int state;

    rb_protect(log_stray, error, &state);
    if (state)
        rb_set_errinfo(Qnil);
}

/* One request */

struct service {
    struct rb_uw_reactor *reactor;
    struct uw_request *request;
};

static VALUE serve(VALUE argument)
{
    const struct service *service = (const struct service *)argument;

    rb_uw_serve(service->reactor, service->request);
    return Qnil;
}

static VALUE check_interrupts(VALUE unused)
{
    rb_thread_check_ints();
    return unused;
}

/* Calls `function`. Returns whether it raised something: that is logged, or the state set of what is to end the thread.
 */
static bool raises(VALUE (*function)(VALUE), VALUE argument, int *ending)
{
    int state;
    VALUE error;

    *ending = 0;
    rb_protect(function, argument, &state);
    if (!state)
        return false;
    if (ends_thread(error = rb_errinfo())) {
        *ending = state;
        return true;
    }
    rb_set_errinfo(Qnil);
    log_stray_protected(error);
    return true;
}

/* What comes too late for a request is nobody else's. */
static void drop_interrupts(void)
{
    int ending;

    while (raises(check_interrupts, Qnil, &ending))
        if (ending)
            rb_jump_tag(ending);
}

/* Where it is served: a fiber, or a thread. */
static VALUE place(const struct rb_uw_reactor *reactor)
{
    return reactor->fiber_scheduler ? rb_fiber_current() : rb_thread_current();
}

void rb_uw_service_begin(struct rb_uw_reactor *reactor, VALUE env)
{
    rb_hash_aset(reactor->services, place(reactor), env);
}

int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument)
{
    int ending;

    raises(function, argument, &ending);
    return ending;
}

void rb_uw_service_end(struct rb_uw_reactor *reactor)
{
    VALUE here = place(reactor);

    rb_hash_delete(reactor->services, here);
    if (reactor->fiber_scheduler)
        rb_uw_scheduler_spare(reactor->fiber_scheduler, here);
    drop_interrupts();
}

int rb_uw_service(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    struct service service = {reactor, request};

    return rb_uw_protect(serve, (VALUE)&service);
}

/* Thread#raise */

static VALUE make_exception(int argc, const VALUE *argv)
{
    if (argc > 0 && rb_keyword_given_p()) /* its cause */
        argc--;
    return argc > 0 ? rb_make_exception(argc, argv) : rb_exc_new_cstr(rb_eRuntimeError, "unhandled exception");
}

struct search {
    VALUE env, found;
};

/* A middleware may have handed on a copy. */
static bool same_request(VALUE env, VALUE other)
{
    return env == other || rb_hash_lookup(env, key_hijack) == rb_hash_lookup(other, key_hijack);
}

static int compare(VALUE place, VALUE env, VALUE argument)
{
    struct search *search = (struct search *)argument;

    if (!same_request(env, search->env))
        return ST_CONTINUE;
    search->found = place;
    return ST_STOP;
}

/* The fiber or thread that serves the request of which `error` tells the env, as those of rack-timeout do. */
static VALUE place_told(const struct rb_uw_reactor *reactor, VALUE error)
{
    struct search search = {rb_check_funcall(error, id_env, 0, NULL), Qnil};

    if (search.env == Qundef || !RB_TYPE_P(search.env, T_HASH))
        return Qundef;
    rb_hash_foreach(reactor->services, compare, (VALUE)&search);
    return search.found;
}

/* What runs on `thread` now. */
static VALUE place_running(const struct rb_uw_reactor *reactor, VALUE thread)
{
    return reactor->fiber_scheduler ? reactor->fiber_scheduler->running : thread;
}

static bool serves(const struct rb_uw_reactor *reactor, VALUE place)
{
    return !NIL_P(place) && !NIL_P(rb_hash_lookup(reactor->services, place));
}

/* Timeout.timeout { reactor.run }; in mode inline it is rather that of a body that waits for its client. */
static bool around_server(const struct rb_uw_reactor *reactor, VALUE error)
{
    return RHASH_SIZE(reactor->kept) == 0 && strncmp(rb_obj_classname(error), "Timeout::", strlen("Timeout::")) == 0;
}

/* Strikes before the scheduler has another fiber go on. */
static VALUE raise_here(struct rb_uw_reactor *reactor, VALUE error)
{
    if (reactor->fiber_scheduler)
        reactor->fiber_scheduler->struck = true;
    return rb_call_super(1, &error);
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
    VALUE self = rb_attr_get(thread, id_reactor), error, told, running;
    struct rb_uw_reactor *reactor;

    if (NIL_P(self) || thread == rb_thread_current() || ends_thread(error = make_exception(argc, argv)))
        return rb_call_super(argc, argv);
    reactor = rb_uw_reactor(self);
    told = place_told(reactor, error);
    running = place_running(reactor, thread); /* from here on, nothing lets the thread go on */
    if (told == Qundef)
        told = running;
    if (told == running && (serves(reactor, told) || around_server(reactor, error)))
        return raise_here(reactor, error);
    if (reactor->fiber_scheduler && serves(reactor, told))
        rb_uw_scheduler_interrupt(reactor->fiber_scheduler, told, error);
    else
        log_stray_protected(error);
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
    id_env = rb_intern("env");
    id_reactor = rb_intern("upwell_reactor"); /* not seen from Ruby */
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));

    /* Document-module: Upwell::Reactor::Raising
     * Extends each thread that serves requests. */
    mRaising = rb_define_module_under(rb_path2class("Upwell::Reactor"), "Raising");
    rb_define_method(mRaising, "raise", raising_raise, -1);
}
