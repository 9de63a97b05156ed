#include "base/shared_memory.h"

#ifdef _WIN32 /* no process forks there */

#include <stdlib.h>

void *uw_shared_memory_new(size_t bytes)
{
    return calloc(1, bytes);
}

void uw_shared_memory_free(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

#else

#include <sys/mman.h>

void *uw_shared_memory_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void uw_shared_memory_free(void *memory, size_t bytes)
{
    (void)munmap(memory, bytes);
}

#endif
