#include "base/memory.h"

#include <stdlib.h>

#define PIECE_BYTES ((size_t)31 * 1024 * 1024) /* below 32 MiB, from which on glibc learns nothing */

/* glibc keeps twice the largest piece that was mapped for itself and is freed, 128 KiB before there was one: with
 * messages of 64 KiB, of which Ruby's collector frees 32 MiB at once, its heap would shrink and grow all the time. None
 * of this one's pages is ever touched. */
void uw_memory_keep(void)
{
    void *volatile piece = malloc(PIECE_BYTES); /* volatile: or the compiler leaves both calls out */

    free(piece);
}
