/* Chooses a loop's backend, and reports why a backend is not available. */
#include "base/backend_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd_limit.h"
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

VALUE rb_uw_backend_reason(const struct uw_backend *backend, int error)
{
    const char *missing = backend->missing ? backend->missing() : NULL;

    if (missing)
        return rb_str_new_cstr(missing);
    switch (error) {
    case -UW_NO_PROCESSOR:
        return rb_str_new_cstr(
            "the kernel's polling thread needs a processor of its own, but this process may use only one");
    case -EPERM:
    case -ENOSYS:
        return rb_sprintf(
            "the kernel does not allow it: %s (see %sseccomp)", strerror(-error),
            strncmp(backend->name, "io_uring", strlen("io_uring")) ? "" : "sysctl kernel.io_uring_disabled, or ");
    default:
        return rb_str_new_cstr(strerror(-error));
    }
}

static VALUE absence(const char *name)
{
    VALUE left_out = rb_hash_lookup(rb_const_get(rb_mUpwell, rb_intern("LEFT_OUT")), rb_str_new_cstr(name));

    if (!NIL_P(left_out))
        return left_out;
    for (size_t i = 0; uw_backend_names[i]; i++)
        if (!strcmp(uw_backend_names[i], name))
            return rb_str_new_cstr("not compiled in");
    return rb_str_new_cstr("unknown");
}

NORETURN(static void raise_backend(const char *name, const struct uw_backend *backend, int error));

static void raise_backend(const char *name, const struct uw_backend *backend, int error)
{
    if (uw_fd_limit_reached(error)) /* says nothing about the backend */
        rb_syserr_fail(-error, "cannot open an event loop");
    if (!name)
        rb_raise(rb_eUpwellBackendError,
                 "no backend works on this machine; %s, the last one, fails: %" PRIsVALUE "; upwell --check "
                 "gives the reason of each; allow its system calls (a container's seccomp profile)",
                 backend->name, rb_uw_backend_reason(backend, error));
    if (!backend)
        rb_raise(rb_eUpwellBackendError, "backend %s is %" PRIsVALUE "; choose one that works here: %" PRIsVALUE, name,
                 absence(name), working_backends());
    rb_raise(rb_eUpwellBackendError, "backend %s does not work here: %" PRIsVALUE "; choose another: %" PRIsVALUE, name,
             rb_uw_backend_reason(backend, error), working_backends());
}

/* Calls uw_backend_probe, and remembers the last success: a probe lasts a good part of a millisecond. */
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
    const struct uw_backend *backend = NULL;
    int error = 0;

    if (!NIL_P(wanted)) {
        const char *name = StringValueCStr(wanted);

        backend = uw_backend_find(name);
        error = backend ? probe(backend) : 0;
        if (error || !backend)
            raise_backend(name, backend, error);
        return rb_str_new_cstr(name);
    }
    for (size_t i = 0; uw_backends[i] && !uw_fd_limit_reached(error); i++) {
        backend = uw_backends[i];
        error = probe(backend);
        if (error == 0)
            return rb_str_new_cstr(backend->name);
    }
    raise_backend(NULL, backend, error);
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
