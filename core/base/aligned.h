/* Allocates memory that is aligned to its size, a power of two. Not every system has C11's aligned_alloc. */
#ifndef UW_BASE_ALIGNED_H
#define UW_BASE_ALIGNED_H

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>

static inline void *uw_aligned_alloc(size_t size)
{
    return _aligned_malloc(size, size);
}

static inline void uw_aligned_free(void *memory)
{
    _aligned_free(memory);
}
#else
static inline void *uw_aligned_alloc(size_t size)
{
    return aligned_alloc(size, size);
}

static inline void uw_aligned_free(void *memory)
{
    free(memory);
}
#endif

#endif
