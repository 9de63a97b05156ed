/* The callable objects of an env, which know their request as long as it is being served. */
#include "rack/rack.h"

/* The data pointer is the request itself: nothing to free, nothing to mark. */
static const rb_data_type_t callable_type = {
    .wrap_struct_name = "Upwell::Callable",
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE rb_uw_callable_new(VALUE class, struct uw_request *request)
{
    return TypedData_Wrap_Struct(class, &callable_type, request);
}

struct uw_request *rb_uw_callable_request(VALUE self)
{
    return rb_check_typeddata(self, &callable_type);
}

struct rb_uw_exchange *rb_uw_callable_exchange(VALUE self, const char *what)
{
    struct uw_request *request = rb_uw_callable_request(self);

    if (!request)
        rb_raise(rb_eIOError, "%s was called after the end of its request; call it during the request", what);
    return rb_uw_exchange_of(request);
}

void rb_uw_end_callables(struct rb_uw_exchange *exchange)
{
    if (!NIL_P(exchange->hijack))
        RTYPEDDATA_DATA(exchange->hijack) = NULL;
    if (!NIL_P(exchange->early_hints))
        RTYPEDDATA_DATA(exchange->early_hints) = NULL;
    if (!NIL_P(exchange->input))
        rb_uw_input_end(exchange->input);
}
