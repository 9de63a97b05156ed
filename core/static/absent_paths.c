#include "static/absent_paths.h"

#include <string.h>

/* FNV-1a. Whoever makes paths collide has them looked for again, as without this. */
static size_t place(const char *path, size_t length)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)path[i]) * 16777619u;
    return sum & (UW_ABSENT_PATHS_MAX - 1);
}

void uw_absent_paths_add(struct uw_absent_paths *absent, const char *path, size_t length, int64_t now_ns)
{
    struct uw_absent_path *slot;

    if (length > UW_ABSENT_PATH_BYTES_MAX)
        return;
    slot = &absent->paths[place(path, length)];
    slot->until_ns = now_ns + UW_ABSENT_PATH_NS;
    slot->length = (uint32_t)length;
    memcpy(slot->bytes, path, length);
}

bool uw_absent_paths_have(const struct uw_absent_paths *absent, const char *path, size_t length, int64_t now_ns)
{
    const struct uw_absent_path *slot;

    if (length > UW_ABSENT_PATH_BYTES_MAX)
        return false;
    slot = &absent->paths[place(path, length)];
    return now_ns < slot->until_ns && slot->length == length && memcmp(slot->bytes, path, length) == 0;
}
