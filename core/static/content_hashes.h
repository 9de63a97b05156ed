/* A cache of file content hashes, by file identity, so that each file is read once. The size is bounded: a file
 * replaces another one. The thread of the background jobs reads large files. Belongs to one loop. */
#ifndef UW_STATIC_CONTENT_HASHES_H
#define UW_STATIC_CONTENT_HASHES_H

#include "static/background_jobs.h"
#include "static/file_identity.h"

#define UW_CONTENT_HASHES_MAX 16384                    /* a power of two */
#define UW_CONTENT_HASHES_AT_ONCE_BYTES (1024 * 1024)  /* a smaller file is read on the loop's thread */
#define UW_CONTENT_HASHES_BYTES_MAX (64 * 1024 * 1024) /* a larger file is never read for its hash */
#define UW_CONTENT_HASHES_REST_SECONDS 2               /* a file to be read later has not changed for so long */
#define UW_CONTENT_HASHES_ASKED_MAX 16                 /* files waiting to be read, each with its own descriptor */

struct uw_content_hash {
    struct uw_file_identity identity; /* inode 0 when unused */
    uint64_t hash;
};

struct uw_content_hashes {
    struct uw_background_jobs *jobs; /* or NULL: large files have no hash */
    struct uw_content_hash *known;
    struct uw_list asked; /* readings that have not finished */
    size_t asked_count;
    int error; /* the -errno of a recent failure to read; its reporter sets it to 0 */
};

/* Returns 0 or -ENOMEM. */
int uw_content_hashes_open(struct uw_content_hashes *hashes, struct uw_background_jobs *jobs);

/* After the jobs are stopped. */
void uw_content_hashes_close(struct uw_content_hashes *hashes);

bool uw_content_hashes_have(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity,
                            uint64_t *hash);

/* Whether files of that size have one. */
static inline bool uw_content_hashes_are_for(int64_t size)
{
    return size <= UW_CONTENT_HASHES_BYTES_MAX;
}

/* The hash of the open file `fd`, of that identity: known, or found out now. Otherwise, when the file is large, was
 * written to just now or cannot be read, returns false; a large one is read later, once it is at rest, and then its
 * hash is known. */
bool uw_content_hashes_find(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity,
                            uint64_t *hash);

#endif
