/* Objects of one size, taken from and given back to blocks of 64 at most with a bitmap each: O(1), no fragmentation,
 * and memory goes back to the system when blocks fall empty (UW_SLAB_SPARES_MAX of them are kept). Not thread-safe: one
 * thread at a time uses it, or one for ever, see uw_slab_own. */
#ifndef UW_BASE_SLAB_H
#define UW_BASE_SLAB_H

#include <stddef.h>

#include "base/list.h"
#include "base/owner.h"

struct uw_slab {
    size_t object_bytes; /* rounded up to UW_SLAB_ALIGNMENT */
    size_t block_objects;
    size_t block_bytes;  /* a power of two; blocks are aligned to it, so an object finds its block by masking */
    size_t taken;        /* objects now in use */
    size_t blocks;       /* blocks now allocated */
    size_t spares;       /* of them, those without an object in use: at the end of `open` */
    struct uw_list open; /* blocks with a free object */
    struct uw_list full;
    uint64_t owner; /* see uw_slab_own */
};

#define UW_SLAB_ALIGNMENT 16
#define UW_SLAB_BLOCK_OBJECTS 64 /* at most */
#define UW_SLAB_SPARES_MAX 16    /* so that what comes and goes in bursts of a thousand allocates nothing */

/* `object_bytes` is at most 64 KiB. */
void uw_slab_init(struct uw_slab *slab, size_t object_bytes);

/* From now on only the calling thread takes and gives. */
void uw_slab_own(struct uw_slab *slab);

/* Frees every block; objects still taken become invalid. */
void uw_slab_free(struct uw_slab *slab);

/* An object whose content is undefined, or NULL when memory is exhausted. */
void *uw_slab_take(struct uw_slab *slab);

void uw_slab_give(struct uw_slab *slab, void *object);

#endif
