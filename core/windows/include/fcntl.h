#ifndef UW_WINDOWS_FCNTL_H
#define UW_WINDOWS_FCNTL_H

#include <sys/types.h>

#include "windows/files_flags.h"
#include "windows/posix_renames.h"

#define O_RDONLY UW_FILE_READ_ONLY
#define O_WRONLY UW_FILE_WRITE_ONLY
#define O_RDWR UW_FILE_READ_WRITE
#define O_CREAT UW_FILE_CREATE
#define O_EXCL UW_FILE_EXCLUSIVE
#define O_TRUNC UW_FILE_TRUNCATE
#define O_APPEND UW_FILE_APPEND
#define O_NONBLOCK UW_FILE_NONBLOCK
#define O_DIRECTORY UW_FILE_FOLDER
#define O_NOFOLLOW UW_FILE_NOFOLLOW
#define O_CLOEXEC UW_FILE_CLOEXEC
#define O_PATH UW_FILE_LOOK
#define O_TMPFILE UW_FILE_UNNAMED
#define O_NOCTTY 0

#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_DUPFD_CLOEXEC 5
#define FD_CLOEXEC 1

#define AT_FDCWD UW_FILE_AT_WORKING_FOLDER
#define AT_SYMLINK_NOFOLLOW UW_FILE_NOFOLLOW

int open(const char *path, int flags, ...) UW_RENAMED(open);
int openat(int folder, const char *path, int flags, ...) UW_RENAMED(openat);
int fcntl(int fd, int command, ...) UW_RENAMED(fcntl);

#endif
