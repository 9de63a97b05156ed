#include "scheduler/scheduler_write.h"

#include <ruby/encoding.h>
#include <ruby/ractor.h>

#include "base/module.h"
#include "scheduler/scheduler.h"

#if RB_UW_RUBY(3, 2)

void rb_uw_init_scheduler_write(void)
{
}

#else

static VALUE strings_of(int argc, const VALUE *argv)
{
    VALUE strings = rb_ary_new_capa(argc);

    for (int i = 0; i < argc; i++)
        rb_ary_push(strings, rb_obj_as_string(argv[i]));
    return strings;
}

/* Returns the joined string, or nil: the encodings may not be compatible, and Ruby may have to convert each string. */
static VALUE joined(VALUE strings)
{
    VALUE whole = rb_str_dup(RARRAY_AREF(strings, 0));

    for (long i = 1; i < RARRAY_LEN(strings); i++) {
        VALUE string = RARRAY_AREF(strings, i);

        if (!rb_enc_compatible(whole, string))
            return Qnil;
        rb_str_append(whole, string);
    }
    return whole;
}

/*
 * IO#write, without interruption by other fibers of the scheduler.
 *
 * @return [Integer] bytes
 */
static VALUE write_whole(int argc, VALUE *argv, VALUE self)
{
    VALUE strings, whole, count;

    (void)self;
    if (argc < 2 || !rb_uw_scheduler_current())
        return rb_call_super(argc, argv);
    strings = strings_of(argc, argv);
    whole = joined(strings);
    count = NIL_P(whole) ? rb_call_super(argc, RARRAY_CONST_PTR(strings)) : rb_call_super(1, &whole);
    RB_GC_GUARD(strings);
    return count;
}

void rb_uw_init_scheduler_write(void)
{
    /* Document-module: Upwell::Scheduler::Writing
     * Is prepended to IO on Ruby 3.1. */
    VALUE writing = rb_define_module_under(rb_uw_cScheduler, "Writing");

    rb_ext_ractor_safe(true); /* other ractors have no scheduler */
    rb_define_method(writing, "write", write_whole, -1);
    rb_ext_ractor_safe(false);
    rb_funcall(rb_uw_cScheduler, rb_intern("private_constant"), 1, ID2SYM(rb_intern("Writing")));
    rb_prepend_module(rb_cIO, writing);
}

#endif
