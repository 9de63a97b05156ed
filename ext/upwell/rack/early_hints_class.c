#include "rack/early_hints_class.h"

#include "base/module.h"
#include "rack/env_callables.h"
#include "rack/rack_response.h"

static VALUE cEarlyHints;

VALUE rb_uw_early_hints_new(struct uw_request *core)
{
    return rb_uw_callable_new(cEarlyHints, core);
}

static bool takes_hints(const struct rb_uw_delivery *delivery)
{
    return !delivery->head_sent && !delivery->hijacked && delivery->core->head.version >= UW_HTTP_1_1;
}

/*
 * Sends an informational response 103 (RFC 8297) at once. Does nothing for HTTP/1.0, or once the response has begun.
 * Any thread may call it.
 *
 * @param headers [Hash{String => String, Array<String>}]
 * @return [nil]
 * @raise [ArgumentError] for a header that must not be sent
 * @raise [IOError] after the end of the request
 */
static VALUE early_hints_call(VALUE self, VALUE headers)
{
    struct rb_uw_delivery *delivery = rb_uw_callable_request(self, "rack.early_hints")->delivery;
    struct uw_request *core;
    struct uw_chunk *chunk;

    if (!takes_hints(delivery))
        return Qnil;
    chunk = rb_uw_response_early_hints(delivery->core->writer, delivery->rack_context->newline_values, headers);
    /* The head's creation may have run Ruby and so other threads; the code below does not. The exchange may be over. */
    core = rb_uw_callable_core(self);
    if (!core || !takes_hints(delivery = rb_uw_rack_request_of(core)->delivery)) {
        uw_chunk_free(chunk);
    } else {
        rb_uw_hand_over(delivery, chunk);
        rb_uw_push(delivery);
    }
    return Qnil;
}

void rb_uw_init_early_hints(void)
{
    /* Document-class: Upwell::EarlyHints
     * The object in <tt>env["rack.early_hints"]</tt>: sends an informational response 103. */
    cEarlyHints = rb_define_class_under(rb_mUpwell, "EarlyHints", rb_cObject);
    rb_undef_alloc_func(cEarlyHints);
    rb_define_method(cEarlyHints, "call", early_hints_call, 1);
}
