#include "server/reactor_bus.h"

#include <string.h>

#include "pub_sub/channels.h"

void rb_uw_reactor_read_bus(struct rb_uw_reactor *reactor, VALUE folder)
{
    const char *path = NIL_P(folder) ? NULL : StringValueCStr(folder);

    if (!path)
        return;
    reactor->bus_folder = xmalloc(strlen(path) + 1);
    strcpy(reactor->bus_folder, path);
}

static void received(void *context, const char *channel, size_t channel_length, const char *message,
                     size_t message_length, bool text)
{
    const struct uw_publication publication = {.channel = channel,
                                               .channel_length = channel_length,
                                               .message = {.bytes = message, .length = message_length},
                                               .text = text};

    (void)uw_publish_here(((struct rb_uw_reactor *)context)->base.server.server_context.channels, publication);
}

/* All peers have answered, so clients may be accepted: they miss no message. */
static void joined(void *context)
{
    struct rb_uw_reactor *reactor = context;

    uw_server_accept_from(&reactor->base.server, 0);
}

static void troubled(void *context, int error)
{
    uw_refusal_log_trouble(&((struct rb_uw_reactor *)context)->base.refusals, UW_SYSTEM_ERROR_BUS, NULL, -error);
}

/* A message that is too long for the bus, or for which memory is exhausted, is delivered in this process alone. */
static void spread(void *context, const struct uw_publication *publication)
{
    (void)uw_bus_publish(context, publication->channel, publication->channel_length, publication->message.bytes,
                         publication->message.length, publication->text);
}

int rb_uw_reactor_open_bus(struct rb_uw_reactor *reactor)
{
    struct uw_server_context *server_context = &reactor->base.server.server_context;
    const struct uw_bus_callbacks callbacks = {
        .received = received, .joined = joined, .troubled = troubled, .context = reactor};
    int error;

    if (!reactor->bus_folder)
        return 0;
    server_context->channels->spread = spread;
    server_context->channels->spread_context = &reactor->bus;
    error = uw_bus_open(&reactor->bus, &server_context->loop, reactor->bus_folder, callbacks);
    if (!error && !reactor->bus.joined)
        uw_server_accept_from(&reactor->base.server, uw_clock_ns() + UW_BUS_JOIN_NS);
    return error;
}

void rb_uw_reactor_close_bus(struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        uw_bus_abandon(&reactor->bus);
    else
        uw_bus_close(&reactor->bus);
}
