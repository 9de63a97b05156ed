#ifdef UW_LOADS_ZLIB

#include "compression/zlib_library.h"

struct uw_zlib uw_zlib;

const char *uw_zlib_missing(void)
{
    static const char *const names[] = {UW_ZLIB_FUNCTIONS(UW_SHARED_LIBRARY_NAME) NULL};
    static struct uw_shared_library library = {
        .file = "libz.so.1",
        .package = "zlib1g",
        .names = names,
        .functions = &uw_zlib,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };

    return uw_shared_library_missing(&library);
}

#else
typedef int uw_zlib_library_is_left_out; /* ISO C requires a declaration */
#endif
