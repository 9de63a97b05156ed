#include "base/memory.h"

#include <stdlib.h>

#define PIECE_BYTES ((size_t)8 * 1024 * 1024)

/* glibc keeps twice the largest piece that was mapped for itself and is freed, 128 KiB before there was one: with
 * messages of 64 KiB, of which Ruby's collector frees many at once, its heap would shrink and grow all the time. No
 * larger: each thread that takes memory may keep as much. None of the piece's pages is ever touched. */
void uw_memory_keep(void)
{
    void *volatile piece = malloc(PIECE_BYTES); /* volatile: or the compiler leaves both calls out */

    free(piece);
}
