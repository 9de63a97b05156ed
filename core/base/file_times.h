/* A file's mtime and ctime. macOS names these members of struct stat differently from POSIX. */
#ifndef UW_BASE_FILE_TIMES_H
#define UW_BASE_FILE_TIMES_H

#include <sys/stat.h>
#include <time.h>

#ifdef __APPLE__
static inline struct timespec uw_modified_at(const struct stat *status)
{
    return status->st_mtimespec;
}

static inline struct timespec uw_changed_at(const struct stat *status)
{
    return status->st_ctimespec;
}
#else
static inline struct timespec uw_modified_at(const struct stat *status)
{
    return status->st_mtim;
}

static inline struct timespec uw_changed_at(const struct stat *status)
{
    return status->st_ctim;
}
#endif

#endif
