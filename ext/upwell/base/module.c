#include "base/module.h"

VALUE rb_mUpwell, rb_eUpwellError, rb_eUpwellBackendError;

void rb_uw_init_module(void)
{
    rb_mUpwell = rb_define_module("Upwell");
    /* Document-class: Upwell::Error
     * The base class of this gem's exceptions. */
    rb_eUpwellError = rb_define_class_under(rb_mUpwell, "Error", rb_eStandardError);
    /* Document-class: Upwell::BackendError
     * A backend that is unknown or does not work here; the message names those that do. */
    rb_eUpwellBackendError = rb_define_class_under(rb_mUpwell, "BackendError", rb_eUpwellError);
}
