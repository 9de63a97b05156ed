/* Mode inline: the application runs on the thread of the loop, which has the interpreter's lock while it does, once for
 * all requests of a turn. */
#include "server/reactor.h"

/* Of a client that has caught up nobody waits to hear. */
static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    if (event != UW_EVENT_DRAINED)
        rb_uw_reactor_enqueue(context, request);
}

static void serve(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    int state = rb_uw_service(reactor, request);

    if (state)
        rb_jump_tag(state);
}

static void serve_batch(struct rb_uw_reactor *reactor)
{
    struct uw_request *request;

    rb_uw_reactor_begin_batch(reactor);
    while ((request = rb_uw_reactor_take(reactor))) {
        serve(reactor, request);
        rb_uw_reactor_flush_if_late(reactor);
    }
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

#define FAILING_NS UW_NS_PER_SECOND /* turns of the loop, before the connection is given up for them */

/* On the loop's own thread: turns of the loop, whose other events wait until this request is done with. The loop refers
 * to this stack until then; where its turns fail, the connection ends for that. */
static void *turn_until_detached(void *argument)
{
    struct rb_uw_detachment *detachment = argument;
    struct rb_uw_reactor *reactor = detachment->reactor;
    int64_t end_ns = uw_clock_ns() + FAILING_NS;

    if (rb_uw_reactor_is_copy(reactor)) /* by a trap handler that ran just now */
        return NULL;
    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done)
        if (uw_server_turn(&reactor->server, UW_FOREVER) && !detachment->done && uw_clock_ns() > end_ns)
            uw_request_disconnect(detachment->request);
    return NULL;
}

static void detach(struct rb_uw_detachment *detachment)
{
    rb_nogvl(turn_until_detached, detachment, NULL, NULL, 0);
}

/* What the application ran has ended. */
static void close_nothing(struct rb_uw_reactor *reactor)
{
    (void)reactor;
}

const struct rb_uw_mode rb_uw_mode_inline = {
    .name = "inline",
    .notify = notify,
    .open = rb_uw_reactor_open,
    .run = run,
    .close = close_nothing,
    .send = uw_request_send,
    .await_drain = rb_uw_hold_back,
    .detach = detach,
};
