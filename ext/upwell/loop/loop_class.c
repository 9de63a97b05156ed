#include "loop/loop_class.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <ruby/io.h>

#include "base/module.h"
#include "loop/watch_wait.h"

#define EVENTS_MIN 64
#define EVENTS_PER_TURN 1024 /* delivered before the loop's next iteration, however many are waiting */
#define SECONDS_MAX 1e9      /* longer is for ever */

/* The event of a watch, or a key that was emitted. */
struct event {
    struct rb_uw_watch *watch; /* or NULL */
    VALUE key;
};

struct loop {
    struct rb_uw_watches watches;
    struct event *events; /* a circle */
    size_t events_size;   /* a power of two */
    size_t first, count;
    size_t delivered; /* since the last iteration */
    bool stopped;
};

static VALUE cLoop, sym_stop;
static ID id_backend;

static struct event *event_at(const struct loop *loop, size_t place)
{
    return &loop->events[(loop->first + place) & (loop->events_size - 1)];
}

static void loop_mark(void *data)
{
    struct loop *loop = data;

    rb_uw_watches_mark(&loop->watches);
    for (size_t i = 0; i < loop->count; i++)
        if (!event_at(loop, i)->watch)
            rb_gc_mark_movable(event_at(loop, i)->key);
}

static void loop_compact(void *data)
{
    struct loop *loop = data;

    rb_uw_watches_compact(&loop->watches);
    for (size_t i = 0; i < loop->count; i++)
        if (!event_at(loop, i)->watch)
            event_at(loop, i)->key = rb_gc_location(event_at(loop, i)->key);
}

static void loop_free(void *data)
{
    struct loop *loop = data;

    rb_uw_watches_free(&loop->watches);
    xfree(loop->events);
    xfree(loop);
}

static size_t loop_memsize(const void *data)
{
    const struct loop *loop = data;

    return sizeof *loop + loop->events_size * sizeof *loop->events + rb_uw_watches_memsize(&loop->watches);
}

static const rb_data_type_t loop_type = {
    .wrap_struct_name = "Upwell::Loop",
    .function = {.dmark = loop_mark, .dfree = loop_free, .dsize = loop_memsize, .dcompact = loop_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE loop_allocate(VALUE class)
{
    struct loop *loop;

    return TypedData_Make_Struct(class, struct loop, &loop_type, loop);
}

static struct loop *get(VALUE self)
{
    struct loop *loop;

    TypedData_Get_Struct(self, struct loop, &loop_type, loop);
    if (!loop->watches.backend)
        rb_raise(rb_eUpwellError, "the loop is not initialized: a subclass must call super in initialize");
    return loop;
}

/*
 * @param backend [String, Symbol, nil] "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"; nil for
 * the backend in the environment variable UPWELL_BACKEND, or else the first that works
 * @raise [Upwell::BackendError] when the backend is unknown or does not work here
 */
static VALUE loop_initialize(int argc, VALUE *argv, VALUE self)
{
    struct loop *loop;
    VALUE options, backend = Qundef;

    rb_scan_args(argc, argv, ":", &options);
    if (!NIL_P(options))
        rb_get_kwargs(options, &id_backend, 0, 1, &backend);
    TypedData_Get_Struct(self, struct loop, &loop_type, loop);
    rb_uw_watches_init(self, &loop->watches, false, backend == Qundef ? Qnil : backend);
    return self;
}

/*
 * @return [String] the backend in use: "io_uring", "epoll", "kqueue", "poll" or "io_uring_sqpoll"
 */
static VALUE loop_backend(VALUE self)
{
    return rb_str_new_cstr(get(self)->watches.backend);
}

/* The queue of events */

static void grow(struct loop *loop)
{
    size_t size = loop->events_size ? loop->events_size * 2 : EVENTS_MIN;
    struct event *events = ALLOC_N(struct event, size);

    for (size_t i = 0; i < loop->count; i++)
        events[i] = *event_at(loop, i);
    xfree(loop->events);
    loop->events = events;
    loop->events_size = size;
    loop->first = 0;
}

static void push(VALUE self, struct loop *loop, struct rb_uw_watch *watch, VALUE key)
{
    if (loop->count == loop->events_size)
        grow(loop);
    *event_at(loop, loop->count++) = (struct event){watch, key};
    RB_OBJ_WRITTEN(self, Qundef, key);
}

/* The key of the first event; Qundef when the event was withdrawn meanwhile. */
static VALUE shift(struct loop *loop)
{
    struct event event = *event_at(loop, 0);
    VALUE key = event.watch ? event.watch->key : event.key;

    loop->first = (loop->first + 1) & (loop->events_size - 1);
    loop->count--;
    loop->delivered++;
    if (event.watch && !rb_uw_watch_deliver(&loop->watches, event.watch))
        return Qundef;
    return key;
}

/* Runs an iteration of the loop, which waits only when no event does. */
static void turn(VALUE self, struct loop *loop)
{
    struct rb_uw_watch *watch;

    rb_uw_watches_wait(self, &loop->watches, loop->count ? 0 : UW_FOREVER);
    while ((watch = rb_uw_watches_take(&loop->watches)))
        push(self, loop, watch, Qnil);
    loop->delivered = 0;
}

static void turn_if_due(VALUE self, struct loop *loop)
{
    if (loop->count == 0 || loop->delivered >= EVENTS_PER_TURN)
        turn(self, loop);
}

/* Taking events */

/*
 * Returns the key of the next event; waits for one if necessary.
 *
 * @return [Object, nil] nil when the wait was ended without an event: by {#signal}, {#stop} or a signal, or when
 * another thread watched or unwatched meanwhile
 * @raise [Upwell::Error] when another thread is waiting, or when a signal handler calls it in a thread that is waiting
 * @raise [SystemCallError] when waiting fails
 */
static VALUE loop_next_event(VALUE self)
{
    struct loop *loop = get(self);
    VALUE key = Qundef;

    do {
        turn_if_due(self, loop);
        if (loop->count == 0)
            return Qnil;
        key = shift(loop);
    } while (key == Qundef);
    return key;
}

/*
 * Yields the key of every event, and waits for events, until {#stop} or `emit(:stop)`. Events of the last iteration are
 * yielded before it returns. An earlier stop has no effect.
 *
 * @yieldparam key [Object]
 * @return [self]
 * @return [Enumerator] without a block
 * @raise [Upwell::Error] when another thread is waiting, or when a signal handler calls it in a thread that is waiting
 * @raise [SystemCallError] when waiting fails
 */
static VALUE loop_each(VALUE self)
{
    struct loop *loop = get(self);

    RETURN_ENUMERATOR(self, 0, NULL);
    loop->stopped = false;
    while (!loop->stopped) {
        turn_if_due(self, loop);
        for (size_t rest = loop->count; rest > 0 && loop->count > 0; rest--) {
            VALUE key = shift(loop);

            if (key != Qundef)
                rb_yield(key);
        }
    }
    return self;
}

/* Watching */

static unsigned events_for(VALUE write)
{
    return RTEST(write) ? POLLOUT : POLLIN;
}

/*
 * Delivers `key` as an event when an IO is ready. May be called by any thread. Closing the IO ends the watch, but
 * {#unwatch} it before, because a backend may keep it open until then.
 *
 * @param key [Object] not in use by another watch; it must not be altered
 * @param io [IO, #to_io]
 * @param write [Boolean] true: ready for writing; false: for reading
 * @param oneshot [Boolean] whether the watch ends with the first event; false: an event in every iteration in which
 *   the IO is ready, until {#unwatch}
 * @return [self]
 * @raise [RuntimeError] when the key is in use
 * @raise [IOError] when the IO is closed
 */
static VALUE loop_watch_io(VALUE self, VALUE key, VALUE io, VALUE write, VALUE oneshot)
{
    struct loop *loop = get(self);

    io = rb_io_get_io(io);
    if (RTEST(write))
        io = rb_io_get_write_io(io);
    rb_uw_watch_io(self, &loop->watches, key, io, rb_io_descriptor(io), events_for(write), !RTEST(oneshot));
    return self;
}

/*
 * Watches a descriptor, as {#watch_io} watches an IO.
 *
 * @param key [Object]
 * @param fd [Integer]
 * @param write [Boolean]
 * @param oneshot [Boolean]
 * @return [self]
 * @raise [RuntimeError] when the key is in use
 * @raise [Errno::EBADF] when the descriptor is not open
 */
static VALUE loop_watch_fd(VALUE self, VALUE key, VALUE fd, VALUE write, VALUE oneshot)
{
    struct loop *loop = get(self);
    int number = NUM2INT(fd);

    if (fcntl(number, F_GETFD) < 0)
        rb_sys_fail_str(rb_sprintf("cannot watch descriptor %d, which is not open", number));
    rb_uw_watch_io(self, &loop->watches, key, Qnil, number, events_for(write), !RTEST(oneshot));
    return self;
}

static int64_t nanoseconds(VALUE duration, const char *name)
{
    double seconds = NUM2DBL(duration);

    if (isnan(seconds))
        rb_raise(rb_eArgError, "%s must be a number of seconds, not NaN", name);
    if (seconds < 0)
        return 0;
    return (int64_t)((seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * (double)UW_NS_PER_SECOND);
}

/*
 * Delivers `key` as an event after a time. May be called by any thread. A late recurring timer skips missed events: the
 * next event is due at once, and later events follow by the interval.
 *
 * @param key [Object] not in use by another watch; it must not be altered
 * @param duration [Numeric] seconds
 * @param interval [Numeric] seconds between later events; 0: only one event
 * @return [self]
 * @raise [RuntimeError] when the key is in use
 */
static VALUE loop_watch_timer(int argc, VALUE *argv, VALUE self)
{
    struct loop *loop = get(self);
    int64_t duration_ns, interval_ns;

    rb_check_arity(argc, 2, 3);
    duration_ns = nanoseconds(argv[1], "the duration");
    interval_ns = argc == 3 ? nanoseconds(argv[2], "the interval") : 0;
    rb_uw_watch_timer(self, &loop->watches, argv[0], uw_clock_ns() + duration_ns, interval_ns);
    return self;
}

/*
 * Ends the watch of a key, if any, and drops its undelivered event. May be called by any thread.
 *
 * @param key [Object]
 * @return [self]
 */
static VALUE loop_unwatch(VALUE self, VALUE key)
{
    rb_uw_unwatch(&get(self)->watches, key);
    return self;
}

/* Emitting and stopping */

/*
 * Delivers keys as events. May be called by any thread, and wakes the waiting thread. The key `:stop` is no event: it
 * has the effect of {#stop}.
 *
 * @param keys [Array<Object>] one or several
 * @return [Object] the first key
 */
static VALUE loop_emit(int argc, VALUE *argv, VALUE self)
{
    struct loop *loop = get(self);

    rb_check_arity(argc, 1, UNLIMITED_ARGUMENTS);
    for (int i = 0; i < argc; i++) {
        if (argv[i] == sym_stop)
            loop->stopped = true;
        else
            push(self, loop, NULL, argv[i]);
    }
    rb_uw_watches_interrupt(&loop->watches);
    return argv[0];
}

/*
 * Ends the wait in progress, or else the next one, without an event. May be called by any thread and in a trap handler.
 *
 * @return [self]
 */
static VALUE loop_signal(VALUE self)
{
    rb_uw_watches_wake(&get(self)->watches);
    return self;
}

/*
 * Ends the {#each} in progress. May be called by any thread and in a trap handler.
 *
 * @return [self]
 */
static VALUE loop_stop(VALUE self)
{
    struct loop *loop = get(self);

    loop->stopped = true;
    rb_uw_watches_interrupt(&loop->watches);
    return self;
}

void rb_uw_init_loop(void)
{
    id_backend = rb_intern("backend");
    sym_stop = ID2SYM(rb_intern("stop"));

    /* Document-class: Upwell::Loop
     * A reactor without callbacks: events have keys, which {#each} and {#next_event} bring one by one. One thread at a
     * time takes events; any thread may watch, unwatch and emit. */
    cLoop = rb_define_class_under(rb_mUpwell, "Loop", rb_cObject);
    rb_define_alloc_func(cLoop, loop_allocate);
    rb_define_method(cLoop, "initialize", loop_initialize, -1);
    rb_define_method(cLoop, "backend", loop_backend, 0);
    rb_define_method(cLoop, "next_event", loop_next_event, 0);
    rb_define_method(cLoop, "each", loop_each, 0);
    rb_define_method(cLoop, "watch_io", loop_watch_io, 4);
    rb_define_method(cLoop, "watch_fd", loop_watch_fd, 4);
    rb_define_method(cLoop, "watch_timer", loop_watch_timer, -1);
    rb_define_method(cLoop, "unwatch", loop_unwatch, 1);
    rb_define_method(cLoop, "emit", loop_emit, -1);
    rb_define_method(cLoop, "signal", loop_signal, 0);
    rb_define_method(cLoop, "stop", loop_stop, 0);
}
