/* The identity of a file's content. It differs between files, and between versions of a file. */
#ifndef UW_STATIC_FILE_IDENTITY_H
#define UW_STATIC_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct uw_file_identity {
    dev_t device;
    ino_t inode;
    int64_t size;
    struct timespec modified, changed; /* programs can set `modified`, but only the kernel sets `changed` */
};

/* Returns 0, -EISDIR for a directory, -EACCES for a special file, or another -errno. */
int uw_file_identify(struct uw_file_identity *identity, int fd);

bool uw_file_identical(const struct uw_file_identity *one, const struct uw_file_identity *other);

/* Returns true if the last change is very recent. Another change could then have the same time stamp, so equal
 * identities do not prove equal contents. */
bool uw_file_is_young(const struct uw_file_identity *identity);

/* Returns true if the file has not changed for `seconds`. */
bool uw_file_is_at_rest(const struct uw_file_identity *identity, int64_t seconds);

/* Returns equal hashes for identical files, and rarely for other files. */
uint64_t uw_file_identity_hash(const struct uw_file_identity *identity);

#endif
