/* A cache of paths without a file. In front of an application most requests name no file. Frequent paths then cost no
 * system call. The size is bounded: a new path replaces the path in its slot. */
#ifndef UW_STATIC_NEGATIVE_CACHE_H
#define UW_STATIC_NEGATIVE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define UW_NEGATIVE_CACHE_MAX 256            /* number of slots, a power of two */
#define UW_NEGATIVE_CACHE_PATH_BYTES_MAX 116 /* longer paths are not cached */
#define UW_NEGATIVE_CACHE_NS UW_NS_PER_SECOND

struct uw_negative_entry {
    int64_t until_ns;
    uint32_t length;
    char bytes[UW_NEGATIVE_CACHE_PATH_BYTES_MAX];
};

struct uw_negative_cache {
    struct uw_negative_entry paths[UW_NEGATIVE_CACHE_MAX]; /* a path's hash determines its slot */
};

void uw_negative_cache_add(struct uw_negative_cache *absent, const char *path, size_t length, int64_t now_ns);
bool uw_negative_cache_have(const struct uw_negative_cache *absent, const char *path, size_t length, int64_t now_ns);

#endif
