#include "rack/retained_env.h"

#include <ruby/encoding.h>
#include <string.h>

#include "base/module.h"
#include "rack/early_hints_class.h"
#include "rack/hijack_class.h"
#include "rack/rack_env.h"

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
static void keep_text(VALUE env, VALUE name, const char *bytes, struct uw_http_slice slice)
{
    const char *text = bytes + slice.offset;
    VALUE value = rb_hash_lookup2(env, name, Qundef);

    if (is_plain_string(value) && RSTRING_LEN(value) == slice.length &&
        memcmp(RSTRING_PTR(value), text, slice.length) == 0)
        rb_hash_aset(env, name, rb_enc_interned_str(text, slice.length, rb_enc_get(value)));
}

/* The nonce is unlike all others. */
static void keep_texts(VALUE env, const struct uw_http_head *head, const char *bytes)
{
    keep_text(env, key_path, bytes, head->path);
    keep_text(env, key_query, bytes, head->query);
    keep_text(env, key_uri, bytes, head->target);
    for (uint32_t i = 0; i < head->header_count; i++) {
        const struct uw_http_header *header = uw_http_header(head, i);

        if (header->field != UW_FIELD_SEC_WEBSOCKET_KEY)
            keep_text(env, rb_uw_env_key(bytes, header), bytes, header->value);
    }
}

static void replace(VALUE env, VALUE name, VALUE made, VALUE kept)
{
    if (rb_hash_lookup2(env, name, Qundef) == made)
        rb_hash_aset(env, name, kept);
}

void rb_uw_retain_env(const struct rb_uw_rack_request *request)
{
    const struct rb_uw_rack_context *rack_context = request->delivery->rack_context;
    const struct uw_request *core = request->delivery->core;
    VALUE env = request->env;

    if (OBJ_FROZEN(env))
        return;
    replace(env, key_errors, rb_hash_lookup(rack_context->template, key_errors), rack_context->held_errors);
    replace(env, key_hijack, request->hijack, ended_hijack);
    replace(env, key_early_hints, request->early_hints, ended_early_hints);
    keep_texts(env, &core->head, core->bytes);
}
