#include "rack/env_callables.h"

#include "rack/input_class.h"

/* The data pointer is the request itself: nothing to free, nothing to mark. */
static const rb_data_type_t callable_type = {
    .wrap_struct_name = "Upwell::Callable",
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE rb_uw_callable_new(VALUE class, struct uw_request *core)
{
    return TypedData_Wrap_Struct(class, &callable_type, core);
}

struct uw_request *rb_uw_callable_core(VALUE self)
{
    return rb_check_typeddata(self, &callable_type);
}

struct rb_uw_rack_request *rb_uw_callable_request(VALUE self, const char *what)
{
    const struct uw_request *core = rb_uw_callable_core(self);

    if (!core)
        rb_raise(rb_eIOError, "%s was called after the end of its request; call it during the request", what);
    return rb_uw_rack_request_of(core);
}

void rb_uw_end_callables(const struct rb_uw_rack_request *request)
{
    if (!NIL_P(request->hijack))
        RTYPEDDATA_DATA(request->hijack) = NULL;
    if (!NIL_P(request->early_hints))
        RTYPEDDATA_DATA(request->early_hints) = NULL;
    if (!NIL_P(request->input))
        rb_uw_input_end(request->input);
}
