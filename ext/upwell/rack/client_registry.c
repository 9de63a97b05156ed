/* The context marks the first client, and each client the next one, both with a write barrier. So a minor collection,
 * which skips old objects, need not walk through all of them. Clients do not move. */
#include "rack/client_registry.h"

/* Returns the client with this `link`, or NULL at the list's end. */
static const struct rb_uw_push_client *at(const struct rb_uw_rack_context *rack_context, const struct uw_list *link)
{
    return link == &rack_context->clients ? NULL : uw_container_of(link, struct rb_uw_push_client, link);
}

static void mark_next(const struct rb_uw_rack_context *rack_context, const struct uw_list *link)
{
    const struct rb_uw_push_client *next = at(rack_context, link->next);

    if (next)
        rb_gc_mark(next->self);
}

void rb_uw_push_clients_mark(const struct rb_uw_rack_context *rack_context)
{
    mark_next(rack_context, &rack_context->clients);
}

void rb_uw_push_client_mark_next(const struct rb_uw_push_client *client)
{
    if (!uw_list_empty(&client->link))
        mark_next(client->rack_context, &client->link);
}

/* The client at `link`, or the context, has another next client. */
static void write_next(const struct rb_uw_rack_context *rack_context, const struct uw_list *link)
{
    const struct rb_uw_push_client *client = at(rack_context, link), *next = at(rack_context, link->next);

    if (next)
        RB_OBJ_WRITTEN(client ? client->self : rack_context->self, Qundef, next->self);
}

void rb_uw_push_client_begin(struct rb_uw_push_client *client)
{
    uw_list_append(&client->rack_context->clients, &client->link);
    write_next(client->rack_context, client->link.previous);
}

void rb_uw_push_client_end(struct rb_uw_push_client *client)
{
    const struct uw_list *previous = client->link.previous;

    if (uw_list_empty(&client->link))
        return;
    uw_list_remove(&client->link);
    write_next(client->rack_context, previous);
}
