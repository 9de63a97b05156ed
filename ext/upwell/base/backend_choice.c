/* Which backend a loop gets, and what to say when it cannot have it. */
#include "base/backend_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/module.h"
#include "io/backend.h"

/* The names of the backends that work here, for messages. */
static VALUE working_backends(void)
{
    VALUE names = rb_ary_new();

    for (size_t i = 0; uw_backends[i]; i++)
        if (uw_backend_probe(uw_backends[i]) == 0)
            rb_ary_push(names, rb_str_new_cstr(uw_backends[i]->name));
    return rb_ary_join(names, rb_str_new_cstr(", "));
}

VALUE rb_uw_backend_reason(int error)
{
    switch (error) {
    case -UW_NO_PROCESSOR:
        return rb_str_new_cstr(
            "the kernel's polling thread needs a processor of its own, and this process may use one only");
    case -EPERM:
    case -ENOSYS:
        return rb_sprintf("the kernel does not allow it: %s (see sysctl kernel.io_uring_disabled, or seccomp)",
                          strerror(-error));
    default:
        return rb_str_new_cstr(strerror(-error));
    }
}

NORETURN(static void raise_backend(const char *name, int error));

static void raise_backend(const char *name, int error)
{
    if (uw_descriptors_ran_out(error)) /* says nothing about the backend */
        rb_syserr_fail(-error, "opening an event loop");
    if (error == -ENOENT)
        rb_raise(rb_eUpwellBackendError,
                 "backend %s is unknown or was not compiled in; those that work here: %" PRIsVALUE, name,
                 working_backends());
    rb_raise(rb_eUpwellBackendError, "backend %s does not work here: %" PRIsVALUE "; those that do: %" PRIsVALUE, name,
             rb_uw_backend_reason(error), working_backends());
}

/* As uw_backend_probe; what has worked once is not tried again, for that takes a good part of a millisecond. */
static int probe(const struct uw_backend *backend)
{
    static const struct uw_backend *worked;
    int error = backend == worked ? 0 : uw_backend_probe(backend);

    if (!error)
        worked = backend;
    return error;
}

VALUE rb_uw_choose_backend(VALUE wanted)
{
    int error = -ENOENT;

    if (!NIL_P(wanted)) {
        const char *name = StringValueCStr(wanted);
        const struct uw_backend *backend = uw_backend_find(name);

        error = backend ? probe(backend) : -ENOENT;
        if (error)
            raise_backend(name, error);
        return rb_str_new_cstr(name);
    }
    for (size_t i = 0; uw_backends[i] && !uw_descriptors_ran_out(error); i++) {
        error = probe(uw_backends[i]);
        if (error == 0)
            return rb_str_new_cstr(uw_backends[i]->name);
    }
    raise_backend("of any kind", error);
}

const char *rb_uw_loop_backend(VALUE wanted)
{
    const char *usual = getenv("UPWELL_BACKEND");
    VALUE name;

    if (NIL_P(wanted) && usual && *usual)
        wanted = rb_str_new_cstr(usual);
    name = rb_uw_choose_backend(NIL_P(wanted) ? wanted : rb_String(wanted));
    return uw_backend_find(StringValueCStr(name))->name;
}
