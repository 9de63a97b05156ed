/* The env of a long-lived client. Many of them slow down Ruby's collector, and so other requests. So equal parts are
 * shared, and no env refers to an IO, which each collection would mark again. */
#include <string.h>

#include "rack/rack.h"

static VALUE key_errors, key_hijack, key_early_hints, key_path, key_query, key_uri, ended_hijack, ended_early_hints;

static VALUE constant(VALUE object)
{
    rb_gc_register_mark_object(object);
    return rb_obj_freeze(object);
}

void rb_uw_init_retained_env(void)
{
    key_errors = constant(rb_interned_str_cstr("rack.errors"));
    key_hijack = constant(rb_interned_str_cstr("rack.hijack"));
    key_early_hints = constant(rb_interned_str_cstr("rack.early_hints"));
    key_path = constant(rb_interned_str_cstr("PATH_INFO"));
    key_query = constant(rb_interned_str_cstr("QUERY_STRING"));
    key_uri = constant(rb_interned_str_cstr("REQUEST_URI"));
    ended_hijack = constant(rb_uw_hijack_new(NULL));
    ended_early_hints = constant(rb_uw_early_hints_new(NULL));
}

VALUE rb_uw_retained_errors(void)
{
    return rb_class_new_instance(1, &rb_stderr, rb_const_get(rb_mUpwell, rb_intern("RackErrorsWrapper")));
}

static bool is_plain_string(VALUE value)
{
    return RB_TYPE_P(value, T_STRING) && RBASIC_CLASS(value) == rb_cString && !OBJ_FROZEN(value) &&
           rb_ivar_count(value) == 0;
}

/* A text other than the client's remains. */
static void keep_text(const struct rb_uw_exchange *exchange, VALUE name, struct uw_http_slice slice)
{
    const char *text = uw_request_text(exchange->request, slice);
    VALUE value = rb_hash_lookup2(exchange->env, name, Qundef);

    if (is_plain_string(value) && RSTRING_LEN(value) == slice.length &&
        memcmp(RSTRING_PTR(value), text, slice.length) == 0)
        rb_hash_aset(exchange->env, name, rb_enc_interned_str(text, slice.length, rb_enc_get(value)));
}

/* The nonce is unlike all others. */
static void keep_texts(const struct rb_uw_exchange *exchange)
{
    const struct uw_http_head *head = &exchange->request->head;

    keep_text(exchange, key_path, head->path);
    keep_text(exchange, key_query, head->query);
    keep_text(exchange, key_uri, head->target);
    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field != UW_FIELD_SEC_WEBSOCKET_KEY)
            keep_text(exchange, rb_uw_env_key(exchange->request, uw_http_header(head, i)),
                      uw_http_header(head, i)->value);
}

static void replace(VALUE env, VALUE name, VALUE made, VALUE kept)
{
    if (rb_hash_lookup2(env, name, Qundef) == made)
        rb_hash_aset(env, name, kept);
}

void rb_uw_retain_env(const struct rb_uw_exchange *exchange)
{
    const struct rb_uw_rack_context *rack_context = exchange->rack_context;

    if (OBJ_FROZEN(exchange->env))
        return;
    replace(exchange->env, key_errors, rb_hash_lookup(rack_context->template, key_errors), rack_context->held_errors);
    replace(exchange->env, key_hijack, exchange->hijack, ended_hijack);
    replace(exchange->env, key_early_hints, exchange->early_hints, ended_early_hints);
    keep_texts(exchange);
}
