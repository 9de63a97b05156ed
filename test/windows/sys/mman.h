#ifndef UW_TEST_SYS_MMAN_H
#define UW_TEST_SYS_MMAN_H

#include "posix_stubs.h"

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 4
#define MAP_FAILED ((void *)-1)

/* Of memory alone. */
void *mmap(void *at, size_t length, int protection, int flags, int fd, int64_t offset);
int mprotect(void *at, size_t length, int protection);
int munmap(void *at, size_t length);

#endif
