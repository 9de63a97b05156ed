#include "rack/rack_protocol.h"

#include <ruby/encoding.h>
#include <string.h>

#include "rack/rack_body.h"

#define SWITCHING_PROTOCOLS 101

static const char websocket_name[] = "websocket";
static ID id_strip, id_include;
static VALUE key_protocol, websocket;

void rb_uw_init_protocol(void)
{
    id_strip = rb_intern("strip");
    id_include = rb_intern("include?");
    rb_gc_register_mark_object(key_protocol = rb_interned_str_cstr("rack.protocol"));
    websocket = rb_ary_new_from_args(1, rb_enc_interned_str_cstr(websocket_name, rb_ascii8bit_encoding()));
    rb_gc_register_mark_object(rb_ary_freeze(websocket));
}

static bool is_websocket(VALUE field)
{
    return RSTRING_LEN(field) == sizeof websocket_name - 1 &&
           memcmp(RSTRING_PTR(field), websocket_name, sizeof websocket_name - 1) == 0;
}

/* Nearly all requests offer WebSocket alone, so they share one object, which long-lived clients keep. */
VALUE rb_uw_protocols(VALUE field)
{
    VALUE elements, protocols;

    if (is_websocket(field))
        return websocket;
    elements = rb_str_split(field, ",");
    protocols = rb_ary_new();
    for (long i = 0; i < RARRAY_LEN(elements); i++) {
        VALUE protocol = rb_funcall(RARRAY_AREF(elements, i), id_strip, 0);

        if (RSTRING_LEN(protocol) > 0)
            rb_ary_push(protocols, protocol);
    }
    return protocols;
}

static bool is_offered(VALUE env, VALUE protocol)
{
    VALUE offered = rb_hash_lookup(env, key_protocol);

    return RB_TYPE_P(protocol, T_STRING) && RB_TYPE_P(offered, T_ARRAY) &&
           RTEST(rb_funcall(offered, id_include, 1, protocol));
}

static bool succeeds(int status)
{
    return status == SWITCHING_PROTOCOLS || status / 100 == 2;
}

void rb_uw_choose_protocol(struct rb_uw_rack_response *response)
{
    VALUE headers = response->headers;
    VALUE protocol = RB_TYPE_P(headers, T_HASH) ? rb_hash_lookup(headers, key_protocol) : Qnil;

    if (!is_offered(response->request->env, protocol) || !succeeds(rb_uw_response_status(response)) ||
        (NIL_P(response->hijacker) && !rb_uw_body_is_callable(response)))
        return;
    response->protocol = protocol;
    response->status = INT2FIX(SWITCHING_PROTOCOLS);
}
