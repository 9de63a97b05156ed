#include "base/pending_interrupts.h"

#include <ruby.h>

static ID id_handle_interrupt, id_is_pending;
static VALUE at_once;

static VALUE check(RB_BLOCK_CALL_FUNC_ARGLIST(unused, argument))
{
    (void)unused, (void)argc, (void)argv, (void)blockarg;
    rb_thread_check_ints();
    return argument;
}

void rb_uw_take_interrupts(void)
{
    rb_thread_check_ints();
    if (RTEST(rb_funcallv(rb_cThread, id_is_pending, 0, NULL)))
        rb_block_call(rb_cThread, id_handle_interrupt, 1, &at_once, check, Qnil);
}

void rb_uw_init_interrupts(void)
{
    id_handle_interrupt = rb_intern("handle_interrupt");
    id_is_pending = rb_intern("pending_interrupt?");
    rb_gc_register_mark_object(at_once = rb_hash_new());
    rb_hash_aset(at_once, rb_eException, ID2SYM(rb_intern("immediate")));
    rb_obj_freeze(at_once);
}
