#ifndef UW_WINDOWS_STDLIB_H
#define UW_WINDOWS_STDLIB_H

#include_next <stdlib.h>

/* The functions of the C library return descriptors of the C library, which the table does not know. */
int uw_posix_mkostemp(char *path, int flags);
#define mkostemp uw_posix_mkostemp
#define mkstemp(path) uw_posix_mkostemp(path, 0)

#endif
