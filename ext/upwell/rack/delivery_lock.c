#include "rack/delivery_lock.h"

#include "base/unwinding.h"

VALUE rb_uw_delivery_lock(struct rb_uw_delivery *delivery)
{
    if (NIL_P(delivery->lock))
        delivery->lock = rb_mutex_new();
    return delivery->lock;
}

/* They refer to the stack of the thread that serves the request. */
VALUE rb_uw_await_users(VALUE lock)
{
    VALUE error = Qnil;
    int state, raised = 0;

    if (NIL_P(lock))
        return Qnil;
    do {
        rb_protect(rb_mutex_lock, lock, &state);
        if (state) {
            raised = state;
            error = rb_errinfo();
        }
    } while (state);
    rb_mutex_unlock(lock);
    if (raised)
        rb_uw_unwind(raised, error);
    return Qnil;
}
