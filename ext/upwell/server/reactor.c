/* The common part of all modes of Upwell::Reactor: the object, and the iterations of its loop. */
#include "server/reactor.h"

#include <ruby/thread.h>

#include "rack/client_registry.h"
#include "rack/exchange.h"
#include "server/reactor_bus.h"
#include "server/reactor_public_files.h"

static void reactor_mark(void *data)
{
    const struct rb_uw_reactor *reactor = data;

    rb_uw_loop_server_mark(&reactor->base);
    rb_uw_rack_context_mark(&reactor->rack_context);
    rb_uw_exchanges_mark(&reactor->rack_context);
    rb_uw_push_clients_mark(&reactor->rack_context);
    if (reactor->mode_state && reactor->mode->mark)
        reactor->mode->mark(reactor->mode_state);
}

static void reactor_compact(void *data)
{
    struct rb_uw_reactor *reactor = data;

    rb_uw_loop_server_compact(&reactor->base);
    rb_uw_rack_context_compact(&reactor->rack_context);
    if (reactor->mode_state && reactor->mode->compact)
        reactor->mode->compact(reactor->mode_state);
}

static void reactor_free(void *data)
{
    struct rb_uw_reactor *reactor = data;

    rb_uw_static_settings_free(&reactor->public_settings);
    rb_uw_loop_server_free(&reactor->base);
    if (reactor->mode_state && reactor->mode->free)
        reactor->mode->free(reactor);
    xfree(reactor->mode_state);
    xfree(reactor->bus_folder);
    rb_uw_reactor_free_channels(reactor);
    rb_uw_rack_context_free(&reactor->rack_context);
    xfree(reactor);
}

static size_t reactor_memsize(const void *data)
{
    const struct rb_uw_reactor *reactor = data;

    return sizeof *reactor + (reactor->mode_state ? reactor->mode->own_bytes : 0) +
           rb_uw_static_settings_bytes(&reactor->public_settings) + rb_uw_loop_server_bytes(&reactor->base);
}

static const rb_data_type_t reactor_type = {
    .wrap_struct_name = "Upwell::Reactor",
    .function = {.dmark = reactor_mark, .dfree = reactor_free, .dsize = reactor_memsize, .dcompact = reactor_compact},
    .parent = &rb_uw_loop_server_type,
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct rb_uw_reactor *rb_uw_reactor(VALUE self)
{
    struct rb_uw_reactor *reactor;

    TypedData_Get_Struct(self, struct rb_uw_reactor, &reactor_type, reactor);
    return reactor;
}

VALUE rb_uw_reactor_allocate(VALUE class)
{
    struct rb_uw_reactor *reactor;
    VALUE self = TypedData_Make_Struct(class, struct rb_uw_reactor, &reactor_type, reactor);

    rb_uw_rack_context_init(&reactor->rack_context, &reactor->base.server, self);
    rb_uw_loop_server_init(&reactor->base, self);
    rb_uw_channels_init(&reactor->channels);
    return self;
}

/* Opening and turning: on the thread of the loop, without the interpreter's lock. */

int rb_uw_reactor_open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                       long count)
{
    int error = rb_uw_loop_server_open(&reactor->base, backend, rb_uw_reactor_handler(reactor));

    if (error)
        return error;
    reactor->rack_context.thread = pthread_self();
    error = rb_uw_reactor_open_bus(reactor);
    if (error)
        return error;
    rb_uw_reactor_open_channels(reactor);
    return rb_uw_listening_open(&reactor->base.server, listening, count);
}

/* Whether a request that was answered, and so has no connection any more, is still to be waited for. */
static bool ends_requests(struct rb_uw_reactor *reactor)
{
    return reactor->mode->drains && reactor->rack_context.ending > 0 &&
           rb_uw_shutdown_control_drains(&reactor->base.control);
}

bool rb_uw_reactor_goes_on(struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        return false;
    return rb_uw_shutdown_control_goes_on(&reactor->base.control, &reactor->base.server) || ends_requests(reactor);
}

static int64_t turn_wait(struct rb_uw_reactor *reactor)
{
    bool has_something = reactor->dont_wait || reactor->mode->brought(reactor); /* by a trap handler, only just */

    return has_something ? 0 : rb_uw_shutdown_control_wait_ns(&reactor->base.control);
}

void *rb_uw_reactor_turns(void *argument)
{
    struct rb_uw_reactor *reactor = argument;
    struct uw_server *server = &reactor->base.server;
    uint64_t wakes = server->server_context.loop.wakes;
    bool goes_on = rb_uw_reactor_goes_on(reactor);

    while (goes_on) {
        reactor->base.status = uw_server_turn(server, turn_wait(reactor));
        goes_on = !reactor->dont_wait && !reactor->base.status && !reactor->mode->brought(reactor) &&
                  server->server_context.loop.wakes == wakes && rb_uw_reactor_goes_on(reactor);
    }
    if (reactor->has_files && !rb_uw_reactor_is_copy(reactor))
        uw_loop_flush(&server->server_context.loop); /* files do not wait for the application */
    return NULL;
}

static void wake(void *argument)
{
    struct rb_uw_reactor *reactor = argument;

    uw_loop_wake(&reactor->base.server.server_context.loop);
}

void rb_uw_reactor_turn(struct rb_uw_reactor *reactor)
{
    reactor->rack_context.busy_since_ns = 0;
    rb_nogvl(rb_uw_reactor_turns, reactor, wake, reactor, RB_NOGVL_UBF_ASYNC_SAFE);
    reactor->rack_context.busy_since_ns = reactor->rack_context.flushed_ns = uw_clock_ns();
}

void rb_uw_reactor_end(struct rb_uw_reactor *reactor)
{
    pthread_mutex_lock(&reactor->rack_context.lock);
    atomic_store(&reactor->rack_context.ended, true);
    pthread_mutex_unlock(&reactor->rack_context.lock);
    if (reactor->base.control.open)
        uw_server_stop(&reactor->base.server);
    rb_uw_rack_context_tell_changed(&reactor->rack_context);
}
