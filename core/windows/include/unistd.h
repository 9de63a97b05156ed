/* POSIX descriptors on Windows: see windows/descriptor_table.h. */
#ifndef UW_WINDOWS_UNISTD_H
#define UW_WINDOWS_UNISTD_H

#include <process.h>
#include <stdint.h>
#include <sys/types.h>

#include "windows/posix_renames.h"

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#define _SC_NPROCESSORS_ONLN 1
#define _SC_PAGESIZE 2

int close(int fd) UW_RENAMED(close);
int dup(int fd) UW_RENAMED(dup);
int dup2(int fd, int other) UW_RENAMED(dup2);
int dup3(int fd, int other, int flags) UW_RENAMED(dup3);
int pipe(int ends[2]) UW_RENAMED(pipe);
int pipe2(int ends[2], int flags) UW_RENAMED(pipe2);
ssize_t read(int fd, void *bytes, size_t length) UW_RENAMED(read);
ssize_t write(int fd, const void *bytes, size_t length) UW_RENAMED(write);
ssize_t pread(int fd, void *bytes, size_t length, int64_t offset) UW_RENAMED(pread);
ssize_t pwrite(int fd, const void *bytes, size_t length, int64_t offset) UW_RENAMED(pwrite);
off64_t uw_posix_lseek(int fd, int64_t offset, int from);
int ftruncate(int fd, off64_t length) UW_RENAMED(ftruncate);
ssize_t readlinkat(int folder, const char *path, char *target, size_t size) UW_RENAMED(readlinkat);
int unlink(const char *path) UW_RENAMED(unlink);
int rmdir(const char *path) UW_RENAMED(rmdir);
int symlink(const char *target, const char *path) UW_RENAMED(symlink);
long sysconf(int name) UW_RENAMED(sysconf);
int usleep(unsigned microseconds) UW_RENAMED(usleep);

#define lseek uw_posix_lseek /* a macro, because <stdio.h> declares lseek */

#endif
