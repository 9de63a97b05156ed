#ifndef UW_WINDOWS_SYS_RESOURCE_H
#define UW_WINDOWS_SYS_RESOURCE_H

#include <stdint.h>

#include "windows/posix_renames.h"

#define RLIMIT_NOFILE 7

typedef uint64_t rlim_t;

struct rlimit {
    rlim_t rlim_cur, rlim_max;
};

int getrlimit(int resource, struct rlimit *limit) UW_RENAMED(getrlimit);
int setrlimit(int resource, const struct rlimit *limit) UW_RENAMED(setrlimit);

#endif
