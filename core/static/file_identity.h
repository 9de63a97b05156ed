/* A file's identity, which differs from other files' of that name, and from the same file's before a write. */
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

/* Returns 0; -EISDIR for a directory; -EACCES for a special file; or another -errno. */
int uw_file_identify(struct uw_file_identity *identity, int fd);

bool uw_file_identical(const struct uw_file_identity *one, const struct uw_file_identity *other);

/* The file was written to so shortly ago that it may be again within one step of the file system's clock: only time
 * shows that it was not. */
bool uw_file_is_young(const struct uw_file_identity *identity);

/* The file has not changed for so many seconds: it may be worth to be read as a whole. */
bool uw_file_is_at_rest(const struct uw_file_identity *identity, int64_t seconds);

/* Returns equal hashes for identical files, and rarely for others. */
uint64_t uw_file_identity_hash(const struct uw_file_identity *identity);

#endif
