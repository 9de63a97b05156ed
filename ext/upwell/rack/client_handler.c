#include "rack/client_handler.h"

static VALUE sym_on_close, sym_on_open;

void rb_uw_init_client_handler(void)
{
    sym_on_close = ID2SYM(rb_intern("on_close"));
    sym_on_open = ID2SYM(rb_intern("on_open"));
}

/* The end of the current event reports the change; without a current event, a wake event does. */
void rb_uw_push_client_note_change(struct rb_uw_push_client *client, VALUE former, VALUE handler)
{
    bool waits;

    if (NIL_P(client->changes))
        RB_OBJ_WRITE(client->self, &client->changes, rb_ary_new());
    waits = RARRAY_LEN(client->changes) > 0;
    rb_ary_cat(client->changes, (VALUE[]){former, sym_on_close, handler, sym_on_open}, 4);
    if (waits || client->served)
        return;
    if (rb_uw_rack_context_turns_here(client->rack_context))
        uw_push_client_wake(client->core);
    else
        uw_push_client_post_wake(client->core);
}

void rb_uw_push_client_tell_changes(const struct rb_uw_push_client *client)
{
    VALUE self = client->self;

    while (!NIL_P(client->changes) && RARRAY_LEN(client->changes) > 0) {
        VALUE handler = rb_ary_shift(client->changes);
        ID callback = SYM2ID(rb_ary_shift(client->changes));

        if (rb_respond_to(handler, callback))
            rb_funcallv_public(handler, callback, 1, &self);
    }
}
