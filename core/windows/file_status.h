/* struct stat for Windows. */
#ifndef UW_WINDOWS_FILE_STATUS_H
#define UW_WINDOWS_FILE_STATUS_H

#include <stdint.h>
#include <time.h>

#include "windows/posix_renames.h"

#define UW_STATUS_KIND 0xf000
#define UW_STATUS_FOLDER 0x4000
#define UW_STATUS_FILE 0x8000
#define UW_STATUS_LINK 0xa000
#define UW_STATUS_SOCKET 0xc000

struct uw_status {
    uint64_t st_dev, st_ino;
    unsigned st_mode, st_nlink;
    int64_t st_size;
    struct timespec st_mtim, st_ctim;
};

#ifndef st_mtime
#define st_mtime st_mtim.tv_sec
#endif

#endif
