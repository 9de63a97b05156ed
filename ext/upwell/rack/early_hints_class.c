/* Upwell::EarlyHints: the object in env["rack.early_hints"]. */
#include "rack/rack.h"

static VALUE cEarlyHints;

VALUE rb_uw_early_hints_new(struct uw_request *request)
{
    return rb_uw_callable_new(cEarlyHints, request);
}

static bool takes_hints(const struct rb_uw_exchange *exchange)
{
    return !exchange->head_sent && !exchange->hijacked && exchange->request->head.version >= UW_HTTP_1_1;
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
    struct rb_uw_exchange *exchange = rb_uw_callable_exchange(self, "rack.early_hints");
    struct uw_request *request;
    struct uw_chunk *chunk;

    if (!takes_hints(exchange))
        return Qnil;
    chunk = rb_uw_response_early_hints(exchange->request->writer, exchange->rack_context->newline_values, headers);
    /* The head's creation may have run Ruby and so other threads; the code below does not. The exchange may be over. */
    request = rb_uw_callable_request(self);
    if (!request || !takes_hints(exchange = rb_uw_exchange_of(request))) {
        uw_chunk_free(chunk);
    } else {
        rb_uw_hand_over(exchange, chunk);
        rb_uw_push(exchange);
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
