/* What is done with the file of an object, without its number, by whoever holds it. Counts, or -errno. */
#ifndef UW_WINDOWS_FILES_H
#define UW_WINDOWS_FILES_H

#include <stddef.h>

#include "windows/numbers.h"

/* At `offset`; or at -1 where it is, which moves on then. */
int64_t uw_file_read(struct uw_object *object, void *bytes, size_t length, int64_t offset);
int64_t uw_file_write(struct uw_object *object, const void *bytes, size_t length, int64_t offset);
int64_t uw_file_size(const struct uw_object *object);

/* A file of a name of its own that goes when it is closed, in the folder. Returns a number or -errno. */
int uw_file_open_unnamed(const char *folder, bool close_on_exec);

#endif
