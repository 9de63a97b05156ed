#ifdef UW_LOADS_OPENSSL

#include "base/openssl_library.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

struct uw_openssl uw_openssl;

const char *uw_openssl_missing(void)
{
    static const char *const names[] = {UW_OPENSSL_FUNCTIONS(UW_SHARED_LIBRARY_NAME) NULL};
    static struct uw_shared_library library = {
        .file = "libssl.so." TEXT(OPENSSL_SHLIB_VERSION),
        .package = "libssl3",
        .names = names,
        .functions = &uw_openssl,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };

    return uw_shared_library_missing(&library);
}

#else
typedef int uw_openssl_library_is_left_out; /* ISO C requires a declaration */
#endif
