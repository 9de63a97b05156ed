/* Mode inline: the application runs on the thread of the loop, which has the interpreter's lock while it does, once for
 * all requests of a turn. */
#include "reactor.h"

static void resume_kept(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    VALUE fiber = rb_uw_take_kept(reactor, request);

    if (!NIL_P(fiber))
        rb_fiber_transfer(fiber, 0, NULL);
}

static void serve_events(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    unsigned events = request->events;
    int state = 0;

    request->events = 0;
    if (events & UW_EVENT_REQUEST)
        state = rb_uw_service(reactor, request);
    else
        resume_kept(reactor, request);
    if (state)
        rb_jump_tag(state);
}

static void serve_batch(struct rb_uw_reactor *reactor)
{
    struct uw_request *request;

    rb_uw_reactor_begin_batch(reactor);
    while ((request = rb_uw_reactor_take(reactor))) {
        serve_events(reactor, request);
        rb_uw_reactor_flush_if_late(reactor);
    }
}

/* Those that wait to write on find the client gone, and unwind. */
static int end_kept(VALUE key, VALUE fiber, VALUE argument)
{
    struct uw_request *request = (struct uw_request *)(uintptr_t)NUM2ULL(key);

    (void)argument;
    if (RTEST(rb_obj_is_fiber(fiber))) {
        atomic_store(&request->lost, true);
        rb_fiber_transfer(fiber, 0, NULL);
    }
    return ST_CONTINUE;
}

static void end_fibers(struct rb_uw_reactor *reactor)
{
    VALUE kept = rb_hash_dup(reactor->kept);

    rb_hash_clear(reactor->kept);
    rb_hash_foreach(kept, end_kept, Qnil);
}

static VALUE serve_turn(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    reactor->hurry = reactor->ready.first || reactor->batch.first;
    reactor->busy_since_ns = 0;
    rb_nogvl(rb_uw_reactor_turns, reactor, rb_uw_reactor_wake, reactor, RB_NOGVL_UBF_ASYNC_SAFE);
    reactor->busy_since_ns = reactor->flushed_ns = uw_clock_ns();
    if (!rb_uw_reactor_is_copy(reactor))
        serve_batch(reactor);
    return Qnil;
}

/* What strikes between two requests is none's. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    while (rb_uw_reactor_goes_on(reactor) && !reactor->status) {
        int state = rb_uw_protect(serve_turn, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

static void await_drain(struct rb_uw_exchange *exchange)
{
    rb_uw_service_strike(exchange);
    exchange->interruptible = false; /* from here on others have the thread */
    rb_uw_keep(exchange->reactor, exchange->request, rb_fiber_current());
    rb_fiber_transfer(exchange->reactor->root, 0, NULL);
}

/* On the loop's own thread: turns of the loop, whose other events wait until this request is done with. */
static void *turn_until_detached(void *argument)
{
    struct rb_uw_detachment *detachment = argument;
    struct uw_server *server = &detachment->reactor->server;

    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done && uw_server_turn(server, UW_FOREVER) == 0)
        ;
    return NULL;
}

static void detach(struct rb_uw_detachment *detachment)
{
    rb_nogvl(turn_until_detached, detachment, NULL, NULL, 0);
}

const struct rb_uw_mode rb_uw_mode_inline = {
    .name = "inline",
    .notify = rb_uw_reactor_enqueue,
    .open = rb_uw_reactor_open,
    .run = run,
    .close = end_fibers,
    .send = rb_uw_reactor_send,
    .await_drain = await_drain,
    .detach = detach,
    .streams_apart = true,
};
