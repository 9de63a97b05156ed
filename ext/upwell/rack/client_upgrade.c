#include "rack/client_upgrade.h"

#include "rack/client_class.h"
#include "rack/client_registry.h"
#include "rack/env_callables.h"
#include "rack/outcome.h"
#include "rack/retained_env.h"

#define REFUSING_STATUS_MIN 300

static VALUE key_upgrade;

void rb_uw_init_upgrade(void)
{
    rb_gc_register_mark_object(key_upgrade = rb_interned_str_cstr("rack.upgrade"));
}

static VALUE handler_of(const struct rb_uw_rack_request *request)
{
    return rb_hash_lookup(request->env, key_upgrade);
}

bool rb_uw_is_upgraded(const struct rb_uw_rack_response *response)
{
    return response->request->upgrade && !NIL_P(handler_of(response->request)) &&
           rb_uw_response_status(response) < REFUSING_STATUS_MIN;
}

/* After the handover the loop may post the client's first event. */
static void hand_over(struct rb_uw_rack_response *response, struct rb_uw_push_client *client)
{
    struct rb_uw_delivery *delivery = response->delivery;
    struct uw_chunk *chunk = delivery->chunk;

    rb_uw_refuse_copy(delivery->rack_context);
    delivery->chunk = NULL;
    rb_uw_end_callables(response->request); /* they know the request, which is another's soon */
    rb_uw_push_client_begin(client);
    delivery->core->client = client->core;
    rb_uw_outcome_note(response, false);
    chunk->flags = UW_CHUNK_FINISH | UW_CHUNK_UPGRADE;
    rb_uw_hand_over(delivery, chunk);
}

void rb_uw_upgrade(struct rb_uw_rack_response *response)
{
    VALUE client;

    response->closer = response->body;
    client = rb_uw_push_client_new(response->request, handler_of(response->request));
    rb_uw_response_upgrade(response, rb_uw_push_client(client)->core);
    rb_uw_retain_env(response->request);
    hand_over(response, rb_uw_push_client(client));
    RB_GC_GUARD(client);
}
