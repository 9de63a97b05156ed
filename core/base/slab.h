/* A slab allocates objects of one size from blocks of at most 64 objects. Each block has a bitmap: O(1), no
 * fragmentation. Empty blocks return to the system, except UW_SLAB_SPARES_MAX blocks. A slab is not thread-safe: one
 * thread uses it at a time, or one thread alone (see uw_slab_own). */
#ifndef UW_BASE_SLAB_H
#define UW_BASE_SLAB_H

#include <stddef.h>

#include "base/list.h"
#include "base/thread_ownership.h"

struct uw_slab {
    size_t object_bytes; /* rounded up to UW_SLAB_ALIGNMENT */
    size_t block_objects;
    size_t block_bytes;  /* a power of two. Blocks are aligned to it, so the address of an object yields the address of
                            its block */
    size_t taken;        /* number of objects in use */
    size_t blocks;       /* number of allocated blocks */
    size_t spares;       /* number of empty blocks, which are at the end of `open` */
    struct uw_list open; /* blocks with at least one free object */
    struct uw_list full;
    uint64_t owner; /* thread id, or 0: see uw_slab_own */
};

#define UW_SLAB_ALIGNMENT 16
#define UW_SLAB_BLOCK_OBJECTS 64 /* at most so many objects in a block */
#define UW_SLAB_SPARES_MAX 16    /* bursts of 1,000 objects then allocate nothing */

/* `object_bytes` is at most 64 KiB. */
void uw_slab_init(struct uw_slab *slab, size_t object_bytes);

/* After this call only the calling thread may allocate and free objects. */
void uw_slab_own(struct uw_slab *slab);

/* Frees every block. Objects that are still allocated become invalid. */
void uw_slab_destroy(struct uw_slab *slab);

/* Returns an object with undefined content, or NULL without memory. */
void *uw_slab_alloc(struct uw_slab *slab);

void uw_slab_free(struct uw_slab *slab, void *object);

#endif
