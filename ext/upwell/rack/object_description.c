#include "rack/object_description.h"

VALUE rb_uw_described(VALUE object)
{
    if (NIL_P(object))
        return rb_str_new_cstr("nil");
    if (RB_TYPE_P(object, T_ARRAY))
        return rb_sprintf("an Array of size %ld", RARRAY_LEN(object));
    return rb_sprintf("an object of class %" PRIsVALUE, rb_class_path(rb_obj_class(object)));
}
