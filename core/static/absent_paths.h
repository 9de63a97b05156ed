/* Paths that have lately named no file. Beside an application most requests are for such: those that are asked for
 * often cost no system call. Of a bounded size: a path takes the place of another one. */
#ifndef UW_STATIC_ABSENT_PATHS_H
#define UW_STATIC_ABSENT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define UW_ABSENT_PATHS_MAX 256      /* a power of two */
#define UW_ABSENT_PATH_BYTES_MAX 116 /* a longer one is not kept */
#define UW_ABSENT_PATH_NS UW_NS_PER_SECOND

struct uw_absent_path {
    int64_t until_ns;
    uint32_t length;
    char bytes[UW_ABSENT_PATH_BYTES_MAX];
};

struct uw_absent_paths {
    struct uw_absent_path paths[UW_ABSENT_PATHS_MAX]; /* each has one place, by its hash */
};

void uw_absent_paths_add(struct uw_absent_paths *absent, const char *path, size_t length, int64_t now_ns);
bool uw_absent_paths_have(const struct uw_absent_paths *absent, const char *path, size_t length, int64_t now_ns);

#endif
