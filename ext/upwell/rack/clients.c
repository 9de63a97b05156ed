/* The clients that stay: their events come whether or not the application keeps them. The host marks the first, and
 * each the next one, with a write barrier for both: a minor collection, which passes over what is old, need not walk
 * through all of them. They do not move. */
#include "rack/client_class.h"

/* The client whose `link` this is, or NULL: it is the list's end. */
static const struct rb_uw_client *at(const struct rb_uw_host *host, const struct uw_list *link)
{
    return link == &host->clients ? NULL : uw_owner(link, struct rb_uw_client, link);
}

static void mark_next(const struct rb_uw_host *host, const struct uw_list *link)
{
    const struct rb_uw_client *next = at(host, link->next);

    if (next)
        rb_gc_mark(next->self);
}

void rb_uw_clients_mark(const struct rb_uw_host *host)
{
    mark_next(host, &host->clients);
}

void rb_uw_client_mark_next(const struct rb_uw_client *client)
{
    if (!uw_list_empty(&client->link))
        mark_next(client->host, &client->link);
}

/* The one at `link`, or the host, has another next one. */
static void write_next(const struct rb_uw_host *host, const struct uw_list *link)
{
    const struct rb_uw_client *client = at(host, link), *next = at(host, link->next);

    if (next)
        RB_OBJ_WRITTEN(client ? client->self : host->self, Qundef, next->self);
}

void rb_uw_client_begin(struct rb_uw_client *client)
{
    uw_list_append(&client->host->clients, &client->link);
    write_next(client->host, client->link.previous);
}

void rb_uw_client_end(struct rb_uw_client *client)
{
    const struct uw_list *previous = client->link.previous;

    if (uw_list_empty(&client->link))
        return;
    uw_list_remove(&client->link);
    write_next(client->host, previous);
}
