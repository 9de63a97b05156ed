#ifndef UW_WINDOWS_DIRENT_H
#define UW_WINDOWS_DIRENT_H

#include "windows/posix_renames.h"

#include <limits.h>

typedef struct uw_folder_stream DIR;

struct dirent {
    char d_name[NAME_MAX + 1];
};

DIR *opendir(const char *path) UW_RENAMED(opendir);
DIR *fdopendir(int fd) UW_RENAMED(fdopendir);
struct dirent *readdir(DIR *stream) UW_RENAMED(readdir);
int closedir(DIR *stream) UW_RENAMED(closedir);
int dirfd(DIR *stream) UW_RENAMED(dirfd);

#endif
