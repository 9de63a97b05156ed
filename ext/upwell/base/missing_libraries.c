#include "base/missing_libraries.h"

#include "base/module.h"

#ifdef UW_LOADS_LIBURING
#include "io/liburing_library.h"
#endif
#ifdef UW_LOADS_OPENSSL
#include "base/openssl_library.h"
#endif
#ifdef UW_LOADS_ZLIB
#include "compression/zlib_library.h"
#endif

static const struct part {
    const char *name;
    const char *(*missing)(void);
} parts[] = {
#ifdef UW_LOADS_LIBURING
    {"io_uring", uw_liburing_missing},
#endif
#ifdef UW_LOADS_OPENSSL
    {"TLS and WebSockets", uw_openssl_missing},
#endif
#ifdef UW_LOADS_ZLIB
    {"compression of WebSocket messages", uw_zlib_missing},
#endif
    {NULL, NULL},
};

/*
 * The parts that were compiled in but do not work here, because a shared library is missing.
 *
 * @return [Hash{String => String}] the part and the reason
 */
static VALUE missing_libraries(VALUE self)
{
    VALUE hash = rb_hash_new();

    (void)self;
    for (const struct part *part = parts; part->name; part++) {
        const char *reason = part->missing();

        if (reason)
            rb_hash_aset(hash, rb_str_new_cstr(part->name), rb_str_new_cstr(reason));
    }
    return hash;
}

/* liburing is loaded now: a process that is out of descriptors later cannot load it, and would choose another backend.
 */
void rb_uw_init_missing_libraries(void)
{
#ifdef UW_LOADS_LIBURING
    (void)uw_liburing_missing();
#endif
    rb_define_singleton_method(rb_mUpwell, "missing_libraries", missing_libraries, 0);
}
