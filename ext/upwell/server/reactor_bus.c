/* The bus, by which what is published in one process of a server reaches the others. */
#include <string.h>

#include "server/reactor.h"

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
    (void)context, (void)channel, (void)channel_length, (void)message, (void)message_length, (void)text;
}

int rb_uw_reactor_open_bus(struct rb_uw_reactor *reactor)
{
    const struct uw_bus_callbacks callbacks = {.received = received, .context = reactor};

    if (!reactor->bus_folder)
        return 0;
    return uw_bus_open(&reactor->bus, &reactor->base.server.service.loop, reactor->bus_folder, callbacks);
}

void rb_uw_reactor_close_bus(struct rb_uw_reactor *reactor)
{
    if (rb_uw_reactor_is_copy(reactor))
        uw_bus_abandon(&reactor->bus);
    else
        uw_bus_close(&reactor->bus);
}
