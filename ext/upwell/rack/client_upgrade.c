/* A long-lived client: the application has set env["rack.upgrade"] to a handler, and has not refused by its status. */
#include "rack/client_class.h"

#define REFUSING_STATUS_MIN 300

static VALUE key_upgrade;

void rb_uw_init_upgrade(void)
{
    rb_gc_register_mark_object(key_upgrade = rb_interned_str_cstr("rack.upgrade"));
}

static VALUE handler_of(const struct rb_uw_exchange *exchange)
{
    return rb_hash_lookup(exchange->env, key_upgrade);
}

bool rb_uw_is_upgraded(const struct rb_uw_exchange *exchange)
{
    return exchange->upgrade && !NIL_P(handler_of(exchange)) && rb_uw_response_status(exchange) < REFUSING_STATUS_MIN;
}

/* After the handover the loop may post the client's first event. */
static void hand_over(struct rb_uw_exchange *exchange, struct rb_uw_push_client *client)
{
    struct uw_chunk *chunk = exchange->chunk;

    rb_uw_refuse_copy(exchange->rack_context);
    exchange->chunk = NULL;
    rb_uw_end_callables(exchange); /* they know the request, which is another's soon */
    rb_uw_push_client_begin(client);
    exchange->request->client = client->core;
    rb_uw_outcome_note(exchange, false);
    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_UPGRADE;
    rb_uw_hand_over(exchange, chunk);
}

void rb_uw_upgrade(struct rb_uw_exchange *exchange)
{
    VALUE client;

    exchange->closer = exchange->body;
    client = rb_uw_push_client_new(exchange, handler_of(exchange));
    rb_uw_response_upgrade(exchange, rb_uw_push_client(client)->core);
    rb_uw_retain_env(exchange);
    hand_over(exchange, rb_uw_push_client(client));
    RB_GC_GUARD(client);
}
