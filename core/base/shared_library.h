/* Optional shared libraries. A build that defines UW_LOADS_... does not link the library, but loads it with dlopen(3)
 * at the first use. Such a build also works without the library. Any other build links the library. */
#ifndef UW_BASE_SHARED_LIBRARY_H
#define UW_BASE_SHARED_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define UW_SHARED_LIBRARY_MESSAGE_BYTES_MAX 256

struct uw_shared_library {
    const char *file;         /* the library's soname */
    const char *package;      /* the Debian package of the library */
    const char *const *names; /* names of the functions, terminated by NULL */
    void *functions;          /* struct of pointers to the functions, in the order of `names` */
    pthread_mutex_t lock;
    bool tried, loaded;
    char message[UW_SHARED_LIBRARY_MESSAGE_BYTES_MAX]; /* why the library is missing */
};

#define UW_SHARED_LIBRARY_NAME(name) #name,
#define UW_SHARED_LIBRARY_POINTER(name) __typeof__(name) *name;

/* Loads the library at the first call. Returns NULL, or a sentence that explains why the library is missing. Any thread
 * may call this function. */
const char *uw_shared_library_missing(struct uw_shared_library *library);

#endif
