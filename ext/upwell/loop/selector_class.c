#include "loop/selector_class.h"

#include <math.h>
#include <poll.h>
#include <ruby/io.h>

#include "base/module.h"
#include "loop/watch_wait.h"

#define SECONDS_MAX 1e9 /* longer is for ever */

struct selector {
    struct rb_uw_watches watches;
    bool closed;
};

_Static_assert(RUBY_IO_READABLE == POLLIN && RUBY_IO_WRITABLE == POLLOUT, "interest is in the events of poll");

static VALUE cSelector;
static ID id_backend;

static void selector_mark(void *data)
{
    rb_uw_watches_mark(data);
}

static void selector_compact(void *data)
{
    rb_uw_watches_compact(data);
}

static void selector_free(void *data)
{
    rb_uw_watches_free(data);
    xfree(data);
}

static size_t selector_memsize(const void *data)
{
    return sizeof(struct selector) + rb_uw_watches_memsize(data);
}

static const rb_data_type_t selector_type = {
    .wrap_struct_name = "Upwell::Selector",
    .function = {.dmark = selector_mark,
                 .dfree = selector_free,
                 .dsize = selector_memsize,
                 .dcompact = selector_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE selector_allocate(VALUE class)
{
    struct selector *selector;

    return TypedData_Make_Struct(class, struct selector, &selector_type, selector);
}

static struct selector *get(VALUE self)
{
    struct selector *selector;

    TypedData_Get_Struct(self, struct selector, &selector_type, selector);
    if (!selector->watches.backend)
        rb_raise(rb_eUpwellError, "the selector is not initialized: a subclass must call super in initialize");
    if (selector->closed)
        rb_raise(rb_eIOError, "the selector is closed; create a new one");
    return selector;
}

/*
 * @param backend [String, Symbol, nil] "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"; nil for
 * the backend in the environment variable UPWELL_BACKEND, or else the first that works
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE selector_initialize(int argc, VALUE *argv, VALUE self)
{
    struct selector *selector;
    VALUE options, backend = Qundef;

    rb_scan_args(argc, argv, ":", &options);
    if (!NIL_P(options))
        rb_get_kwargs(options, &id_backend, 0, 1, &backend);
    TypedData_Get_Struct(self, struct selector, &selector_type, selector);
    rb_uw_watches_init(self, &selector->watches, true, backend == Qundef ? Qnil : backend);
    return self;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"
 * @raise [IOError] when the selector is closed
 */
static VALUE selector_backend(VALUE self)
{
    return rb_str_new_cstr(get(self)->watches.backend);
}

static unsigned read_interest(VALUE interest)
{
    int events = NUM2INT(interest);

    if (events == 0 || events & ~(RUBY_IO_READABLE | RUBY_IO_WRITABLE))
        rb_raise(rb_eArgError, "the interest must be IO::READABLE, IO::WRITABLE or both, not %d", events);
    return (unsigned)events;
}

/*
 * Makes {#wait} report when an IO is ready, until it is deregistered or closed. Replaces an earlier registration of
 * the same IO. May be called by any thread.
 *
 * @param io [IO, #to_io]
 * @param interest [Integer] READABLE, WRITABLE, or both
 * @return [self]
 * @raise [ArgumentError] for any other value
 * @raise [IOError] when the IO or the selector is closed
 */
static VALUE selector_register(VALUE self, VALUE io, VALUE interest)
{
    struct selector *selector = get(self);
    unsigned events = read_interest(interest);
    VALUE file = rb_io_get_io(io);
    int fd = rb_io_descriptor(file);

    rb_uw_unwatch(&selector->watches, io);
    rb_uw_watch_io(self, &selector->watches, io, file, fd, events, true);
    return self;
}

/*
 * May be called by any thread, and for an IO that is closed.
 *
 * @param io [IO, #to_io]
 * @return [Boolean] whether it was registered
 * @raise [IOError] when the selector is closed
 */
static VALUE selector_deregister(VALUE self, VALUE io)
{
    return rb_uw_unwatch(&get(self)->watches, io) ? Qtrue : Qfalse;
}

/* An error or hang-up is reported as the events of the interest: the next call on the IO returns the error. */
static int ready_events(const struct rb_uw_watch *watch)
{
    int interest = (int)watch->poll.length;

    return watch->result < 0 || watch->result & (POLLERR | POLLHUP) ? interest : watch->result & interest;
}

static int64_t deadline(VALUE timeout)
{
    double seconds;

    if (NIL_P(timeout))
        return UW_FOREVER;
    seconds = NUM2DBL(timeout);
    if (isnan(seconds) || seconds < 0)
        rb_raise(rb_eArgError, "the timeout must be nil or a number of seconds, 0 or more, not %" PRIsVALUE, timeout);
    if (seconds == 0)
        return 0;
    return uw_clock_ns() + (int64_t)((seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * (double)UW_NS_PER_SECOND);
}

static void yield_or_push(VALUE pairs, VALUE io, int events)
{
    if (NIL_P(pairs))
        rb_yield_values(2, io, INT2FIX(events));
    else
        rb_ary_push(pairs, rb_assoc_new(io, INT2FIX(events)));
}

/* A signal does not end it. */
static void wait_all(VALUE self, struct selector *selector, int64_t deadline_ns)
{
    bool woken;

    do
        woken = rb_uw_watches_wait(self, &selector->watches, deadline_ns);
    while (!woken && !selector->watches.fired && uw_clock_ns() < deadline_ns);
}

/*
 * Waits until a registered IO is ready, and reports all IOs that are ready.
 *
 * @param timeout [Numeric, nil] seconds; 0: does not wait; nil: without end
 * @yieldparam io [IO] as it was registered
 * @yieldparam events [Integer] READABLE, WRITABLE, or both
 * @return [Array<Array(IO, Integer)>] the values to be yielded; empty after the time-out or {#wakeup}; a signal does
 * not end the wait, but an exception of its handler does
 * @return [self] with a block
 * @raise [IOError] when the selector is closed
 * @raise [Upwell::Error] when another thread is waiting, or when a signal handler calls it in a thread that is waiting
 */
static VALUE selector_wait(int argc, VALUE *argv, VALUE self)
{
    struct selector *selector = get(self);
    VALUE pairs = rb_block_given_p() ? Qnil : rb_ary_new();
    struct rb_uw_watch *watch;

    rb_check_arity(argc, 0, 1);
    wait_all(self, selector, deadline(argc ? argv[0] : Qnil));
    while ((watch = rb_uw_watches_take(&selector->watches))) {
        VALUE io = watch->key;
        int events = ready_events(watch);

        if (rb_uw_watch_deliver(&selector->watches, watch))
            yield_or_push(pairs, io, events);
    }
    return NIL_P(pairs) ? self : pairs;
}

/*
 * Ends the wait in progress, or else the next one. May be called by any thread and in a trap handler.
 *
 * @return [self]
 * @raise [IOError] when the selector is closed
 */
static VALUE selector_wakeup(VALUE self)
{
    rb_uw_watches_wake(&get(self)->watches);
    return self;
}

/*
 * Frees the selector's kernel objects, but not the registered IOs. A second call does nothing.
 *
 * @return [nil]
 * @raise [Upwell::Error] when another thread is waiting, or when a signal handler calls it in a thread that is waiting
 */
static VALUE selector_close(VALUE self)
{
    struct selector *selector;

    TypedData_Get_Struct(self, struct selector, &selector_type, selector);
    if (selector->watches.backend)
        rb_uw_watches_close(&selector->watches);
    selector->closed = true;
    return Qnil;
}

/*
 * @return [Boolean]
 */
static VALUE selector_is_closed(VALUE self)
{
    struct selector *selector;

    TypedData_Get_Struct(self, struct selector, &selector_type, selector);
    return selector->closed ? Qtrue : Qfalse;
}

void rb_uw_init_selector(void)
{
    id_backend = rb_intern("backend");

    /* Document-class: Upwell::Selector
     * Reports which of many IOs are ready. Registration lasts over waits. One thread at a time waits; any thread may
     * register, deregister and wake it. */
    cSelector = rb_define_class_under(rb_mUpwell, "Selector", rb_cObject);
    /* Ready for reading; the same as IO::READABLE. */
    rb_define_const(cSelector, "READABLE", INT2FIX(RUBY_IO_READABLE));
    /* Ready for writing; the same as IO::WRITABLE. */
    rb_define_const(cSelector, "WRITABLE", INT2FIX(RUBY_IO_WRITABLE));
    rb_define_alloc_func(cSelector, selector_allocate);
    rb_define_method(cSelector, "initialize", selector_initialize, -1);
    rb_define_method(cSelector, "backend", selector_backend, 0);
    rb_define_method(cSelector, "register", selector_register, 2);
    rb_define_method(cSelector, "deregister", selector_deregister, 1);
    rb_define_method(cSelector, "wait", selector_wait, -1);
    rb_define_method(cSelector, "wakeup", selector_wakeup, 0);
    rb_define_method(cSelector, "close", selector_close, 0);
    rb_define_method(cSelector, "closed?", selector_is_closed, 0);
}
