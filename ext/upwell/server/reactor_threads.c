/* Mode threads: the loop has a thread of its own that never touches Ruby; Ruby's threads take complete requests from a
 * queue. */
#include <errno.h>
#include <ruby/io.h>
#include <signal.h>
#include <unistd.h>

#include "server/reactor.h"

struct threads {
    struct uw_queue queue;
    bool started;
    struct uw_wakeup end; /* told once the loop's thread has ended */
};

#define COPY_SECONDS_MAX 1 /* for which a copy waits for what only its parent will be told */

static struct threads *own(const struct rb_uw_reactor *reactor)
{
    return reactor->own;
}

static void init(struct rb_uw_reactor *reactor, VALUE settings)
{
    (void)settings;
    if (uw_queue_init(&own(reactor)->queue))
        rb_memerror();
}

/* The C library waits until nobody waits for what is to be destroyed: in the copy for ever. */
static void free_queue(struct rb_uw_reactor *reactor)
{
    if (!rb_uw_reactor_is_copy(reactor))
        uw_queue_free(&own(reactor)->queue);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct rb_uw_reactor *reactor = context;

    if (event == UW_EVENT_DRAINED) {
        rb_uw_host_tell_changed(&reactor->host);
        return;
    }
    uw_queue_push(&own(reactor)->queue, request);
}

struct start {
    struct rb_uw_reactor *reactor;
    const char *backend;
    const struct rb_uw_listening *listening;
    long count;
};

static void tell_started(struct rb_uw_reactor *reactor, int status)
{
    pthread_mutex_lock(&reactor->host.lock);
    reactor->base.status = status;
    own(reactor)->started = true;
    pthread_cond_broadcast(&reactor->host.changed);
    pthread_mutex_unlock(&reactor->host.lock);
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
    uw_queue_close(&own(reactor)->queue);
    uw_wakeup_tell(&own(reactor)->end);
    return NULL;
}

/* Ruby's signals are for Ruby's threads. */
static int start_thread(struct rb_uw_reactor *reactor, struct start *start)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&reactor->host.thread, NULL, loop_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

static int await_start(struct rb_uw_reactor *reactor)
{
    int error;

    pthread_mutex_lock(&reactor->host.lock);
    while (!own(reactor)->started)
        pthread_cond_wait(&reactor->host.changed, &reactor->host.lock);
    error = reactor->base.status;
    pthread_mutex_unlock(&reactor->host.lock);
    return error;
}

/* Waits as Ruby itself waits for a descriptor: only so does Ruby 3.1 see signals while every other thread is out of its
 * sight. That wait outlives a trap handler, so the child that one has forked finds out by the time that it is one. */
static VALUE await_end(VALUE self)
{
    struct timeval patience = {.tv_sec = COPY_SECONDS_MAX};

    (void)rb_wait_for_single_fd(own(rb_uw_reactor(self))->end.fd, RB_WAITFD_IN, &patience);
    return Qnil;
}

/* What a trap handler raises is no request's. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    while (!atomic_load(&reactor->host.ended) && !rb_uw_reactor_is_copy(reactor)) {
        int state = rb_uw_protect(await_end, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

static void join_thread(struct rb_uw_reactor *reactor)
{
    pthread_join(reactor->host.thread, NULL);
    reactor->host.thread_has_ended = true;
    uw_wakeup_close(&own(reactor)->end);
}

static void end_thread(struct rb_uw_reactor *reactor)
{
    rb_uw_control_stop(&reactor->base.control, &reactor->base.server);
    join_thread(reactor);
}

struct work {
    struct rb_uw_reactor *reactor;
    struct uw_worker worker;
};

static void *wait_for_work(void *argument)
{
    struct work *work = argument;

    uw_queue_wait(&own(work->reactor)->queue, &work->worker);
    return NULL;
}

static void interrupt_work(void *argument)
{
    struct work *work = argument;

    uw_queue_interrupt(&own(work->reactor)->queue, &work->worker);
}

static VALUE wait_interruptible(VALUE argument)
{
    rb_thread_call_without_gvl(wait_for_work, (void *)argument, interrupt_work, (void *)argument);
    return Qnil;
}

/* Requests are taken with the interpreter's lock held: under load one thread serves one after another, and the lock
 * changes hands only when the application itself waits for something; for how long, computing.c tells the queue. */
static VALUE work_on(VALUE argument)
{
    struct work *work = (struct work *)argument;
    struct rb_uw_reactor *reactor = work->reactor;

    for (;;) {
        struct uw_request *request;
        int state = 0;

        atomic_fetch_add(&reactor->busy, 1);
        request = uw_queue_take(&own(reactor)->queue, &work->worker);
        if (request)
            state = rb_uw_service(reactor, request);
        atomic_fetch_sub(&reactor->busy, 1);
        if (!request && own(reactor)->queue.closed)
            return Qnil;
        if (!request)
            state = rb_uw_protect(wait_interruptible, argument);
        if (state)
            rb_jump_tag(state);
    }
}

/* A worker that was signalled and leaves passes the signal on. */
static VALUE retire(VALUE argument)
{
    struct work *work = (struct work *)argument;

    rb_uw_unguard_thread();
    rb_uw_watch_worker(NULL);
    uw_queue_retire(&own(work->reactor)->queue, &work->worker);
    return Qnil;
}

static void work_here(struct rb_uw_reactor *reactor)
{
    struct work work = {.reactor = reactor};
    int error;

    rb_uw_guard_thread(reactor->host.self);
    error = uw_queue_join(&own(reactor)->queue, &work.worker);
    if (error)
        rb_syserr_fail(-error, "beginning to serve requests");
    rb_uw_watch_worker(&work.worker);
    rb_ensure(work_on, (VALUE)&work, retire, (VALUE)&work);
}

struct drain_wait {
    struct rb_uw_host *host;
    struct uw_request *request;
    bool interrupted;
};

static bool waits_for_drain(const struct drain_wait *wait)
{
    return atomic_load(&wait->request->await_drain) && !wait->host->ended && !wait->interrupted;
}

static void *wait_for_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->host->lock);
    while (waits_for_drain(wait))
        pthread_cond_wait(&wait->host->changed, &wait->host->lock);
    wait->interrupted = false;
    pthread_mutex_unlock(&wait->host->lock);
    return NULL;
}

static void interrupt_drain(void *argument)
{
    struct drain_wait *wait = argument;

    pthread_mutex_lock(&wait->host->lock);
    wait->interrupted = true;
    pthread_cond_broadcast(&wait->host->changed);
    pthread_mutex_unlock(&wait->host->lock);
}

static VALUE wait_until_drained(VALUE argument)
{
    struct drain_wait *wait = (struct drain_wait *)argument;

    while (atomic_load(&wait->request->await_drain) && !wait->host->ended)
        rb_thread_call_without_gvl(wait_for_drain, wait, interrupt_drain, wait);
    return Qnil;
}

/* The event would find nobody. */
static VALUE forget_drain(VALUE argument)
{
    atomic_store(&((struct drain_wait *)argument)->request->await_drain, false);
    return Qnil;
}

static void await_drain(struct rb_uw_exchange *exchange)
{
    struct drain_wait wait = {exchange->host, exchange->request, false};

    rb_ensure(wait_until_drained, (VALUE)&wait, forget_drain, (VALUE)&wait);
}

static void *wait_for_detach(void *argument)
{
    struct rb_uw_detachment *detachment = argument;
    struct rb_uw_host *host = detachment->host;

    pthread_mutex_lock(&host->lock);
    detachment->done = host->ended;
    if (!detachment->done)
        uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done)
        pthread_cond_wait(&host->changed, &host->lock);
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

static void detach(struct rb_uw_detachment *detachment)
{
    rb_nogvl(wait_for_detach, detachment, NULL, NULL, 0);
}

static int open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening, long count)
{
    struct start start = {reactor, backend, listening, count};
    int error = uw_wakeup_open(&own(reactor)->end);

    if (error)
        return error;
    rb_update_max_fd(own(reactor)->end.fd);
    rb_update_max_fd(own(reactor)->end.tell_fd);
    error = start_thread(reactor, &start);
    if (error) {
        uw_wakeup_close(&own(reactor)->end);
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
    return own(reactor)->queue.length;
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
