/* Hashes of files' contents, by the files' identities: whoever has read a file once need not read it again. Of a
 * bounded size: a file takes the place of another one. Large files are read on the errands' thread. Belongs to one
 * loop. */
#ifndef UW_STATIC_CONTENT_HASHES_H
#define UW_STATIC_CONTENT_HASHES_H

#include "static/errands.h"
#include "static/file_identity.h"

#define UW_CONTENT_HASHES_MAX 16384                   /* a power of two */
#define UW_CONTENT_HASHES_AT_ONCE_BYTES (1024 * 1024) /* a smaller file is read on the loop's thread */
#define UW_CONTENT_HASHES_ASKED_MAX 16                /* files to be read, each with a descriptor of its own */

struct uw_content_hash {
    struct uw_file_identity identity; /* of no inode: there is none */
    uint64_t hash;
};

struct uw_content_hashes {
    struct uw_errands *errands; /* or NULL: large files have no hash */
    struct uw_content_hash *known;
    struct uw_list asked; /* for, and not told yet */
    size_t asked_count;
};

/* Returns 0 or -ENOMEM. */
int uw_content_hashes_open(struct uw_content_hashes *hashes, struct uw_errands *errands);

/* Once the errands are stopped. */
void uw_content_hashes_close(struct uw_content_hashes *hashes);

bool uw_content_hashes_have(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity,
                            uint64_t *hash);

/* The hash of the open file `fd`, of that identity: known, or found out now. Otherwise, when the file is large, was
 * written to just now or cannot be read, returns false; a large one is read later, and then its hash is known. */
bool uw_content_hashes_find(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity,
                            uint64_t *hash);

#endif
