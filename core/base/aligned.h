/* Memory that begins at a multiple of its size, a power of two: C11's is not everyone's. */
#ifndef UW_BASE_ALIGNED_H
#define UW_BASE_ALIGNED_H

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>

static inline void *uw_aligned_take(size_t size)
{
    return _aligned_malloc(size, size);
}

static inline void uw_aligned_give(void *memory)
{
    _aligned_free(memory);
}
#else
static inline void *uw_aligned_take(size_t size)
{
    return aligned_alloc(size, size);
}

static inline void uw_aligned_give(void *memory)
{
    free(memory);
}
#endif

#endif
