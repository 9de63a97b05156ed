/* Optional shared libraries. A build that defines UW_LOADS_... does not link the library. It loads the library with
 * dlopen(3) at the first use, and works without the library where it is missing. Any other build links the library. */
#ifndef UW_BASE_SHARED_LIBRARY_H
#define UW_BASE_SHARED_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define UW_SHARED_LIBRARY_MESSAGE_BYTES_MAX 256

struct uw_shared_library {
    const char *file;         /* the library's soname */
    const char *package;      /* the Debian package of the library */
    const char *const *names; /* names of the functions; NULL ends the list */
    void *functions;          /* a struct of pointers to the functions, in the same order */
    pthread_mutex_t lock;
    bool tried, loaded;
    char message[UW_SHARED_LIBRARY_MESSAGE_BYTES_MAX]; /* the reason why the library is missing */
};

#define UW_SHARED_LIBRARY_NAME(name) #name,
#define UW_SHARED_LIBRARY_POINTER(name) __typeof__(name) *name;

/* Loads the library at the first call. Returns NULL, or a sentence that explains why the library is missing. Any thread
 * may call this. */
const char *uw_shared_library_missing(struct uw_shared_library *library);

#endif
