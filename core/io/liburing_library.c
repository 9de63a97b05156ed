#ifdef UW_LOADS_LIBURING

#include "io/liburing_library.h"

struct uw_liburing uw_liburing;

const char *uw_liburing_missing(void)
{
    static const char *const names[] = {UW_LIBURING_FUNCTIONS(UW_SHARED_LIBRARY_NAME) NULL};
    static struct uw_shared_library library = {
        .file = "liburing.so.2",
        .package = "liburing2",
        .names = names,
        .functions = &uw_liburing,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };

    return uw_shared_library_missing(&library);
}

#else
typedef int uw_liburing_library_is_left_out; /* ISO C requires a declaration */
#endif
