/* Shared libraries that may be missing. */
#include "base/shared_library.h"
#include "check.h"

#ifdef UW_LOADS_ZLIB

#include <string.h>

static struct {
    const char *(*version)(void);
} functions;

static const char *missing(const char *file, const char *const *names)
{
    static struct uw_shared_library libraries[4];
    static size_t count;
    struct uw_shared_library *library = &libraries[count++];

    *library = (struct uw_shared_library){.file = file,
                                          .package = "a-package",
                                          .names = names,
                                          .functions = &functions,
                                          .lock = PTHREAD_MUTEX_INITIALIZER};
    CHECK(uw_shared_library_missing(library) == uw_shared_library_missing(library));
    return uw_shared_library_missing(library);
}

TEST(a_library_that_is_there_gives_its_functions)
{
    static const char *const names[] = {"zlibVersion", NULL};

    CHECK(missing("libz.so.1", names) == NULL);
    CHECK(functions.version && functions.version()[0] == '1');
}

TEST(a_library_that_is_not_there_is_named_with_the_package_that_has_it)
{
    static const char *const names[] = {NULL};

    CHECK(!strcmp("libnowhere.so.1: cannot open shared object file: No such file or directory "
                  "(Debian: apt-get install a-package)",
                  missing("libnowhere.so.1", names)));
}

TEST(a_library_that_lacks_a_function_is_missing)
{
    static const char *const names[] = {"deflate_of_another_version", NULL};
    const char *reason = missing("libz.so.1", names);

    CHECK(reason && strstr(reason, "deflate_of_another_version") != NULL);
}

#endif

TEST_MAIN
