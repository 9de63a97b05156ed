/* Calls on the file of an object, without a number. The caller has a reference to the object. Functions return counts,
 * or -errno. */
#ifndef UW_WINDOWS_FILES_H
#define UW_WINDOWS_FILES_H

#include <stddef.h>

#include "windows/descriptor_table.h"

/* Read and write at `offset`. With -1, at the current position, which advances. */
int64_t uw_file_read(struct uw_object *object, void *bytes, size_t length, int64_t offset);
int64_t uw_file_write(struct uw_object *object, const void *bytes, size_t length, int64_t offset);
int64_t uw_file_size(const struct uw_object *object);

/* Creates a file with a unique name in the directory. The file is deleted when it is closed. Returns a number or
 * -errno. */
int uw_file_open_unnamed(const char *folder, bool close_on_exec);

#endif
