/* Mode threads: the loop has its own thread, which never touches Ruby. Ruby's threads take complete requests from a
 * queue. */
#include "server/reactor_threads.h"

#include <errno.h>
#include <ruby/io.h>
#include <ruby/thread.h>
#include <signal.h>
#include <unistd.h>

#include "rack/async_exceptions.h"
#include "rack/delivery.h"
#include "rack/hijack_detach.h"
#include "server/gvl_probe.h"
#include "server/reactor.h"
#include "server/request_queue.h"
#include "server/thread_raise.h"

struct threads {
    struct uw_queue queue;
    bool started;
    struct uw_wakeup end; /* set once the loop's thread has ended */
};

#define COPY_SECONDS_MAX 1 /* a copy's longest wait for an event that only its parent gets */

static struct threads *mode_state(const struct rb_uw_reactor *reactor)
{
    return reactor->mode_state;
}

static void init(struct rb_uw_reactor *reactor, VALUE settings)
{
    (void)settings;
    if (uw_queue_init(&mode_state(reactor)->queue))
        rb_memerror();
}

/* The C library's destroy waits for waiting threads, which never leave in the copy. */
static void free_queue(struct rb_uw_reactor *reactor)
{
    if (!rb_uw_reactor_is_copy(reactor))
        uw_queue_free(&mode_state(reactor)->queue);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_reactor *reactor = context;

    if (event == UW_EVENT_DRAINED) {
        rb_uw_rack_context_tell_changed(&reactor->rack_context);
        return;
    }
    uw_queue_push(&mode_state(reactor)->queue, request);
}

struct start {
    struct rb_uw_reactor *reactor;
    const char *backend;
    const struct rb_uw_listening *listening;
    long count;
};

static void tell_started(struct rb_uw_reactor *reactor, int status)
{
    pthread_mutex_lock(&reactor->rack_context.lock);
    reactor->base.status = status;
    mode_state(reactor)->started = true;
    pthread_cond_broadcast(&reactor->rack_context.changed);
    pthread_mutex_unlock(&reactor->rack_context.lock);
}

static void *loop_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    struct rb_uw_reactor *reactor = start.reactor;
    int status = rb_uw_reactor_open(reactor, start.backend, start.listening, start.count);

    tell_started(reactor, status); /* `start` is gone after this */
    while (!status && rb_uw_reactor_goes_on(reactor)) {
        rb_uw_reactor_turns(reactor);
        status = reactor->base.status;
    }
    rb_uw_reactor_end(reactor);
    uw_queue_close(&mode_state(reactor)->queue);
    uw_wakeup_tell(&mode_state(reactor)->end);
    return NULL;
}

/* Ruby's signals are for Ruby's threads. */
static int start_thread(struct rb_uw_reactor *reactor, struct start *start)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&reactor->rack_context.thread, NULL, loop_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

static int await_start(struct rb_uw_reactor *reactor)
{
    int error;

    pthread_mutex_lock(&reactor->rack_context.lock);
    while (!mode_state(reactor)->started)
        pthread_cond_wait(&reactor->rack_context.changed, &reactor->rack_context.lock);
    error = reactor->base.status;
    pthread_mutex_unlock(&reactor->rack_context.lock);
    return error;
}

/* Waits the way Ruby waits for a descriptor: otherwise Ruby 3.1 sees no signals while all other threads run outside
 * Ruby. The wait outlives a trap handler, so a child forked there needs the time-out to notice that it is a child. */
static VALUE await_end(VALUE self)
{
    struct timeval patience = {.tv_sec = COPY_SECONDS_MAX};

    (void)rb_wait_for_single_fd(mode_state(rb_uw_reactor(self))->end.fd, RB_WAITFD_IN, &patience);
    return Qnil;
}

/* An exception from a trap handler belongs to no request. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    while (!atomic_load(&reactor->rack_context.ended) && !rb_uw_reactor_is_copy(reactor)) {
        int state = rb_uw_protect(await_end, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

static void join_thread(struct rb_uw_reactor *reactor)
{
    pthread_join(reactor->rack_context.thread, NULL);
    reactor->rack_context.thread_has_ended = true;
    uw_wakeup_close(&mode_state(reactor)->end);
}

static void end_thread(struct rb_uw_reactor *reactor)
{
    rb_uw_shutdown_control_stop(&reactor->base.control, &reactor->base.server);
    join_thread(reactor);
}

struct work {
    struct rb_uw_reactor *reactor;
    struct uw_worker worker;
};

static void *wait_for_work(void *argument)
{
    struct work *work = argument;

    uw_queue_wait(&mode_state(work->reactor)->queue, &work->worker);
    return NULL;
}

static void interrupt_work(void *argument)
{
    struct work *work = argument;

    uw_queue_interrupt(&mode_state(work->reactor)->queue, &work->worker);
}

static VALUE wait_interruptible(VALUE argument)
{
    rb_thread_call_without_gvl(wait_for_work, (void *)argument, interrupt_work, (void *)argument);
    return Qnil;
}

/* Workers take requests with the interpreter's lock. Under load one thread serves many requests, and the lock changes
 * hands only when the application waits. gvl_probe.c reports such waits to the queue. */
static VALUE work_on(VALUE argument)
{
    struct work *work = (struct work *)argument;
    struct rb_uw_reactor *reactor = work->reactor;

    for (;;) {
        struct uw_request *request;
        int state = 0;

        atomic_fetch_add(&reactor->busy, 1);
        request = uw_queue_take(&mode_state(reactor)->queue, &work->worker);
        if (request)
            state = rb_uw_serve_interruptible(reactor, request);
        atomic_fetch_sub(&reactor->busy, 1);
        if (!request && mode_state(reactor)->queue.closed)
            return Qnil;
        if (!request)
            state = rb_uw_protect(wait_interruptible, argument);
        if (state)
            rb_jump_tag(state);
    }
}

/* A worker that was signalled and ends passes the signal on. */
static VALUE retire(VALUE argument)
{
    struct work *work = (struct work *)argument;

    rb_uw_unguard_thread();
    rb_uw_watch_worker(NULL);
    uw_queue_retire(&mode_state(work->reactor)->queue, &work->worker);
    return Qnil;
}

static void work_here(struct rb_uw_reactor *reactor)
{
    struct work work = {.reactor = reactor};
    int error;

    rb_uw_guard_thread(reactor->rack_context.self);
    error = uw_queue_join(&mode_state(reactor)->queue, &work.worker);
    if (error)
        rb_syserr_fail(-error, "cannot start the worker threads");
    rb_uw_watch_worker(&work.worker);
    rb_ensure(work_on, (VALUE)&work, retire, (VALUE)&work);
}

struct drain_wait {
    struct rb_uw_rack_context *rack_context;
    struct uw_request *request;
    bool interrupted;
};

static bool waits_for_drain(const struct drain_wait *wait)
{
    return atomic_load(&wait->request->await_drain) && !wait->rack_context->ended && !wait->interrupted;
}

static void *wait_for_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->rack_context->lock);
    while (waits_for_drain(wait))
        pthread_cond_wait(&wait->rack_context->changed, &wait->rack_context->lock);
    wait->interrupted = false;
    pthread_mutex_unlock(&wait->rack_context->lock);
    return NULL;
}

static void interrupt_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->rack_context->lock);
    wait->interrupted = true;
    pthread_cond_broadcast(&wait->rack_context->changed);
    pthread_mutex_unlock(&wait->rack_context->lock);
}

static VALUE wait_until_drained(VALUE argument)
{
    struct drain_wait *wait = (struct drain_wait *)argument;

    while (atomic_load(&wait->request->await_drain) && !wait->rack_context->ended)
        rb_thread_call_without_gvl(wait_for_drain, wait, interrupt_drain, wait);
    return Qnil;
}

/* Without a waiting thread the event must not come. */
static VALUE forget_drain(VALUE argument)
{
    atomic_store(&((struct drain_wait *)argument)->request->await_drain, false);
    return Qnil;
}

static void await_drain(struct rb_uw_delivery *delivery)
{
    struct drain_wait wait = {delivery->rack_context, delivery->core, false};

    rb_ensure(wait_until_drained, (VALUE)&wait, forget_drain, (VALUE)&wait);
}

static void *wait_for_detach(void *argument)
{
    struct rb_uw_detachment *detachment = argument;
    struct rb_uw_rack_context *rack_context = detachment->rack_context;

    pthread_mutex_lock(&rack_context->lock);
    detachment->done = rack_context->ended;
    if (!detachment->done)
        uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done)
        pthread_cond_wait(&rack_context->changed, &rack_context->lock);
    pthread_mutex_unlock(&rack_context->lock);
    return NULL;
}

static void detach(struct rb_uw_detachment *detachment)
{
    rb_nogvl(wait_for_detach, detachment, NULL, NULL, 0);
}

static int open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening, long count)
{
    struct start start = {reactor, backend, listening, count};
    int error = uw_wakeup_open(&mode_state(reactor)->end);

    if (error)
        return error;
    rb_update_max_fd(mode_state(reactor)->end.fd);
    rb_update_max_fd(mode_state(reactor)->end.tell_fd);
    error = start_thread(reactor, &start);
    if (error) {
        uw_wakeup_close(&mode_state(reactor)->end);
        return error;
    }
    error = await_start(reactor);
    if (error && !reactor->base.control.open)
        join_thread(reactor);
    return error;
}

/* Workers look into the queue by themselves. */
static bool brought(const struct rb_uw_reactor *reactor)
{
    (void)reactor;
    return false;
}

static size_t queued(const struct rb_uw_reactor *reactor)
{
    return mode_state(reactor)->queue.length;
}

const struct rb_uw_mode rb_uw_mode_threads = {
    .name = "threads",
    .calls = {.send = uw_request_post, .await_drain = await_drain, .detach = detach},
    .own_bytes = sizeof(struct threads),
    .init = init,
    .free = free_queue,
    .notify = notify,
    .open = open,
    .run = run,
    .close = end_thread,
    .brought = brought,
    .work = work_here,
    .queued = queued,
};
