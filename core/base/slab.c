#include "base/slab.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/aligned.h"

#define OBJECT_BYTES_MAX 65536

struct block {
    struct uw_list link; /* in slab->open or slab->full */
    uint64_t free;       /* bitmap: a set bit marks a free object */
};

static const size_t header_bytes = (sizeof(struct block) + UW_SLAB_ALIGNMENT - 1) & ~(size_t)(UW_SLAB_ALIGNMENT - 1);

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* If 64 objects fill a block exactly, the block gets 63 objects, because the block's header needs space. A block of
 * twice the size would be half empty. */
void uw_slab_init(struct uw_slab *slab, size_t object_bytes)
{
    assert(object_bytes > 0 && object_bytes <= OBJECT_BYTES_MAX);
    slab->object_bytes = (object_bytes + UW_SLAB_ALIGNMENT - 1) & ~(size_t)(UW_SLAB_ALIGNMENT - 1);
    slab->block_bytes = 2 * header_bytes;
    while (slab->block_bytes < slab->object_bytes * UW_SLAB_BLOCK_OBJECTS)
        slab->block_bytes *= 2;
    slab->block_objects = smaller((slab->block_bytes - header_bytes) / slab->object_bytes, UW_SLAB_BLOCK_OBJECTS);
    slab->taken = slab->blocks = slab->spares = 0;
    uw_list_init(&slab->open);
    uw_list_init(&slab->full);
    slab->owner = 0;
}

void uw_slab_own(struct uw_slab *slab)
{
    slab->owner = uw_thread_id();
}

static void free_blocks(struct uw_list *list)
{
    while (!uw_list_empty(list)) {
        struct block *block = uw_container_of(list->next, struct block, link);

        uw_list_remove(&block->link);
        uw_aligned_free(block);
    }
}

void uw_slab_destroy(struct uw_slab *slab)
{
    free_blocks(&slab->open);
    free_blocks(&slab->full);
    slab->taken = slab->blocks = slab->spares = 0;
}

/* Returns the bitmap of a block without allocated objects. */
static uint64_t all_objects_free(const struct uw_slab *slab)
{
    return UINT64_MAX >> (UW_SLAB_BLOCK_OBJECTS - slab->block_objects);
}

static struct block *add_block(struct uw_slab *slab)
{
    struct block *block = uw_aligned_alloc(slab->block_bytes);

    if (!block)
        return NULL;
    block->free = all_objects_free(slab);
    uw_list_append(&slab->open, &block->link);
    slab->blocks++;
    slab->spares++;
    return block;
}

static bool block_is_empty(const struct uw_slab *slab, const struct block *block)
{
    return block->free == all_objects_free(slab);
}

void *uw_slab_alloc(struct uw_slab *slab)
{
    struct block *block =
        uw_list_empty(&slab->open) ? add_block(slab) : uw_container_of(slab->open.next, struct block, link);
    int index;

    UW_ASSERT_OWNER(slab);
    if (!block)
        return NULL;
    slab->spares -= block_is_empty(slab, block);
    index = __builtin_ctzll(block->free);
    block->free &= block->free - 1;
    slab->taken++;
    if (!block->free) {
        uw_list_remove(&block->link);
        uw_list_append(&slab->full, &block->link);
    }
    return (char *)block + header_bytes + (size_t)index * slab->object_bytes;
}

static void keep_or_free_block(struct uw_slab *slab, struct block *block)
{
    uw_list_remove(&block->link);
    if (slab->spares == UW_SLAB_SPARES_MAX) {
        uw_aligned_free(block);
        slab->blocks--;
    } else {
        uw_list_append(&slab->open, &block->link);
        slab->spares++;
    }
}

void uw_slab_free(struct uw_slab *slab, void *object)
{
    struct block *block = (struct block *)((uintptr_t)object & ~(uintptr_t)(slab->block_bytes - 1));
    size_t index = (size_t)((char *)object - (char *)block - header_bytes) / slab->object_bytes;

    UW_ASSERT_OWNER(slab);
    assert(!(block->free & UINT64_C(1) << index));
    if (!block->free) {
        uw_list_remove(&block->link);
        uw_list_append(slab->open.next, &block->link); /* puts the block before the first */
    }
    block->free |= UINT64_C(1) << index;
    slab->taken--;
    if (block_is_empty(slab, block))
        keep_or_free_block(slab, block);
}
