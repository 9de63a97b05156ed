#include "base/malloc_trim.h"

#include <stdatomic.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define PIECE_BYTES ((size_t)8 * 1024 * 1024)

/* glibc keeps free memory up to twice the size of the largest mapped piece that was freed, at first 128 KiB. With 64
 * KiB messages, which the garbage collector frees in bulk, the heap would shrink and grow all the time. Each thread's
 * arena may keep as much, so the piece is no larger. No page of the piece is touched. A sanitizer marks all pages, so
 * the piece is allocated only once. */
void uw_malloc_keep(void)
{
    static atomic_flag kept = ATOMIC_FLAG_INIT;
    void *volatile piece; /* `volatile` keeps the compiler from removing both calls */

    if (atomic_flag_test_and_set(&kept))
        return;
    piece = malloc(PIECE_BYTES);
    free(piece);
}

void uw_malloc_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
