#ifndef UW_WINDOWS_SYS_STAT_H
#define UW_WINDOWS_SYS_STAT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <wchar.h> /* must be included first, because it defines struct stat */

#include "windows/file_status.h"

#define stat uw_status
#define fstat uw_posix_fstat
#define fstatat uw_posix_fstatat
#define lstat uw_posix_lstat

#define S_IFMT UW_STATUS_KIND
#define S_IFDIR UW_STATUS_FOLDER
#define S_IFREG UW_STATUS_FILE
#define S_IFLNK UW_STATUS_LINK
#define S_IFSOCK UW_STATUS_SOCKET
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)

int uw_posix_fstat(int fd, struct uw_status *status);
int uw_posix_fstatat(int folder, const char *path, struct uw_status *status, int flags);
int mkdir(const char *path, mode_t mode) UW_RENAMED(mkdir);

#endif
