#include "static/negative_cache.h"

#include <string.h>

/* FNV-1a. Colliding paths only replace each other, and cost a system call again. */
static size_t slot_index(const char *path, size_t length)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)path[i]) * 16777619u;
    return sum & (UW_NEGATIVE_CACHE_MAX - 1);
}

void uw_negative_cache_add(struct uw_negative_cache *absent, const char *path, size_t length, int64_t now_ns)
{
    struct uw_negative_entry *slot;

    if (length > UW_NEGATIVE_CACHE_PATH_BYTES_MAX)
        return;
    slot = &absent->paths[slot_index(path, length)];
    slot->until_ns = now_ns + UW_NEGATIVE_CACHE_NS;
    slot->length = (uint32_t)length;
    memcpy(slot->bytes, path, length);
}

bool uw_negative_cache_have(const struct uw_negative_cache *absent, const char *path, size_t length, int64_t now_ns)
{
    const struct uw_negative_entry *slot;

    if (length > UW_NEGATIVE_CACHE_PATH_BYTES_MAX)
        return false;
    slot = &absent->paths[slot_index(path, length)];
    return now_ns < slot->until_ns && slot->length == length && memcmp(slot->bytes, path, length) == 0;
}
