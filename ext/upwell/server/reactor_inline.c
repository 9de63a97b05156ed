/* Mode inline: the application runs on the loop's thread. The thread takes the interpreter's lock once for all requests
 * of an iteration. */
#include "server/reactor_inline.h"

#include <ruby/thread.h>

#include "rack/async_exceptions.h"
#include "rack/hijack_detach.h"
#include "rack/spill_buffer.h"
#include "server/reactor.h"
#include "server/run_queue.h"
#include "server/thread_raise.h"

struct inline_mode {
    struct rb_uw_run_queue backlog;
};

static struct rb_uw_run_queue *backlog_of(const struct rb_uw_reactor *reactor)
{
    return &((struct inline_mode *)reactor->mode_state)->backlog;
}

static void init(struct rb_uw_reactor *reactor, VALUE settings)
{
    (void)settings;
    rb_uw_run_queue_init(backlog_of(reactor));
}

/* No request waits for UW_EVENT_DRAINED here. */
static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    if (event != UW_EVENT_DRAINED)
        rb_uw_run_queue_add(backlog_of(context), request);
}

static void serve(struct rb_uw_reactor *reactor, struct uw_request *request)
{
    int state = rb_uw_serve_interruptible(reactor, request);

    if (state)
        rb_jump_tag(state);
}

static void serve_batch(struct rb_uw_reactor *reactor)
{
    struct uw_request *request;

    rb_uw_run_queue_begin_batch(backlog_of(reactor));
    while ((request = rb_uw_run_queue_take(backlog_of(reactor)))) {
        serve(reactor, request);
        rb_uw_rack_context_flush_if_late(&reactor->rack_context);
    }
    rb_uw_run_queue_end_batch(backlog_of(reactor));
}

static VALUE serve_turn(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    rb_uw_run_queue_end_batch(backlog_of(reactor)); /* if it was left */
    reactor->dont_wait = backlog_of(reactor)->ready.first || backlog_of(reactor)->batch.first;
    rb_uw_reactor_turn(reactor);
    if (!rb_uw_reactor_is_copy(reactor))
        serve_batch(reactor);
    return Qnil;
}

/* An exception that arrives between two requests belongs to no request. */
static VALUE run(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    while (rb_uw_reactor_goes_on(reactor) && !reactor->base.status) {
        int state = rb_uw_protect(serve_turn, self);

        if (state)
            rb_jump_tag(state);
    }
    return Qnil;
}

#define FAILING_NS UW_NS_PER_SECOND /* of iterations, before the connection is closed */

/* Runs iterations on the loop's thread until the detach is done; other events wait until this request has ended. The
 * loop refers to this stack until then. If iterations fail, the connection is closed. */
static void *turn_until_detached(void *argument)
{
    struct rb_uw_detachment *detachment = argument;
    struct rb_uw_reactor *reactor = rb_uw_reactor_of(detachment->rack_context);
    int64_t end_ns = uw_clock_ns() + FAILING_NS;

    if (rb_uw_reactor_is_copy(reactor)) /* by a trap handler that ran just now */
        return NULL;
    uw_request_detach(detachment->request, &detachment->detached);
    while (!detachment->done)
        if (uw_server_turn(&reactor->base.server, UW_FOREVER) && !detachment->done && uw_clock_ns() > end_ns)
            uw_request_disconnect(detachment->request);
    return NULL;
}

static void detach(struct rb_uw_detachment *detachment)
{
    rb_nogvl(turn_until_detached, detachment, NULL, NULL, 0);
}

static bool brought(const struct rb_uw_reactor *reactor)
{
    return backlog_of(reactor)->ready.first;
}

const struct rb_uw_mode rb_uw_mode_inline = {
    .name = "inline",
    .calls = {.send = uw_request_send, .await_drain = rb_uw_spill_wait, .detach = detach},
    .one_thread = true,
    .own_bytes = sizeof(struct inline_mode),
    .init = init,
    .notify = notify,
    .open = rb_uw_reactor_open,
    .run = run,
    .close = rb_uw_reactor_end,
    .brought = brought,
};
