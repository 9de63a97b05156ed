#ifndef UW_TEST_FTW_H
#define UW_TEST_FTW_H

#include <sys/stat.h>

#include "posix_stubs.h"

#define FTW_DEPTH 1
#define FTW_PHYS 2

struct FTW {
    int level;
};

/* What is in a folder before it. */
int nftw(const char *path, int (*visit)(const char *path, const struct stat *, int type, struct FTW *), int most,
         int flags);

#endif
