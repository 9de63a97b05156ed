/* A slab allocates objects of one size from blocks of at most 64 objects. Each block has a bitmap: O(1), no
 * fragmentation. Empty blocks return to the system; the slab keeps UW_SLAB_SPARES_MAX of them. A slab is not
 * thread-safe: one thread uses it at a time, or only one thread ever (see uw_slab_own). */
#ifndef UW_BASE_SLAB_H
#define UW_BASE_SLAB_H

#include <stddef.h>

#include "base/list.h"
#include "base/thread_ownership.h"

struct uw_slab {
    size_t object_bytes; /* rounded up to UW_SLAB_ALIGNMENT */
    size_t block_objects;
    size_t block_bytes;  /* a power of two; blocks are aligned to it, so an object finds its block by masking */
    size_t taken;        /* objects now in use */
    size_t blocks;       /* blocks now allocated */
    size_t spares;       /* empty blocks, at the end of `open` */
    struct uw_list open; /* blocks with a free object */
    struct uw_list full;
    uint64_t owner; /* see uw_slab_own */
};

#define UW_SLAB_ALIGNMENT 16
#define UW_SLAB_BLOCK_OBJECTS 64 /* at most */
#define UW_SLAB_SPARES_MAX 16    /* bursts of a thousand objects then allocate nothing */

/* `object_bytes` is at most 64 KiB. */
void uw_slab_init(struct uw_slab *slab, size_t object_bytes);

/* From this call on, only the calling thread allocates and frees objects. */
void uw_slab_own(struct uw_slab *slab);

/* Frees every block; objects still allocated become invalid. */
void uw_slab_destroy(struct uw_slab *slab);

/* Returns an object with undefined content, or NULL when memory is exhausted. */
void *uw_slab_alloc(struct uw_slab *slab);

void uw_slab_free(struct uw_slab *slab, void *object);

#endif
