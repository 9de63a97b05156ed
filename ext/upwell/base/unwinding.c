/* The value of rb_errinfo() during unwinding: an exception, Thread#kill, Fiber#kill, or a throw to an outer catch. Only
 * the exception is an object that Ruby's functions accept. */
#include "base/unwinding.h"

bool rb_uw_is_error(VALUE error, VALUE of)
{
    return !RB_SPECIAL_CONST_P(error) && RB_BUILTIN_TYPE(error) != RUBY_T_IMEMO && RTEST(rb_obj_is_kind_of(error, of));
}

bool rb_uw_ends_thread(VALUE error)
{
    return !rb_uw_is_error(error, rb_eException) || rb_uw_is_error(error, rb_eSystemExit) ||
           rb_uw_is_error(error, rb_eSignal);
}

void rb_uw_unwind(int state, VALUE error)
{
    if (rb_uw_is_error(error, rb_eException))
        rb_set_errinfo(error);
    else if (rb_uw_is_error(rb_errinfo(), rb_eException)) /* which has replaced the unwinding */
        rb_exc_raise(rb_errinfo());
    rb_jump_tag(state);
}
