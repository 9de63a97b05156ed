/* Tells a file from another one of that name, and from itself before it was written to. */
#ifndef UW_STATIC_FILE_IDENTITY_H
#define UW_STATIC_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct uw_file_identity {
    dev_t device;
    ino_t inode;
    int64_t size;
    struct timespec modified, changed; /* `modified` may be set to anything; `changed` is the kernel's alone */
};

/* Returns 0; -EISDIR for a folder; -EACCES for what is neither folder nor regular file; or another -errno. */
int uw_file_identify(struct uw_file_identity *identity, int fd);

bool uw_file_identical(const struct uw_file_identity *one, const struct uw_file_identity *other);

/* The file was written to so shortly ago that it may be again within one step of the file system's clock: only time
 * shows that it was not. */
bool uw_file_is_young(const struct uw_file_identity *identity);

/* The same for identical files, and hardly ever for others. */
uint64_t uw_file_identity_hash(const struct uw_file_identity *identity);

#endif
