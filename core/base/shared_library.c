#include "base/shared_library.h"

#if defined UW_LOADS_LIBURING || defined UW_LOADS_OPENSSL || defined UW_LOADS_ZLIB

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool resolve_functions(const struct uw_shared_library *library, void *handle)
{
    for (size_t i = 0; library->names[i]; i++) {
        void *function = dlsym(handle, library->names[i]);

        if (!function)
            return false;
        memcpy((char *)library->functions + i * sizeof function, &function, sizeof function);
    }
    return true;
}

static void set_message(struct uw_shared_library *library)
{
    const char *reason = dlerror();

    snprintf(library->message, sizeof library->message, "%s (Debian: apt-get install %s)",
             reason ? reason : library->file, library->package);
}

/* The library remains loaded until the process exits. */
static void load_library(struct uw_shared_library *library)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

    library->loaded = handle && resolve_functions(library, handle);
    if (!library->loaded)
        set_message(library);
    if (handle && !library->loaded)
        dlclose(handle);
}

const char *uw_shared_library_missing(struct uw_shared_library *library)
{
    pthread_mutex_lock(&library->lock);
    if (!library->tried)
        load_library(library);
    library->tried = true;
    pthread_mutex_unlock(&library->lock);
    return library->loaded ? NULL : library->message;
}

#else
typedef int uw_shared_library_is_left_out; /* ISO C requires a declaration */
#endif
