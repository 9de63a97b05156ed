/* A cache of the content hashes of files, by file identity. So each file is read once. The size is bounded: a new entry
 * replaces the entry in its slot. Large files are read by background jobs. Belongs to one loop. */
#ifndef UW_STATIC_CONTENT_HASHES_H
#define UW_STATIC_CONTENT_HASHES_H

#include "static/background_jobs.h"
#include "static/file_identity.h"

#define UW_CONTENT_HASHES_MAX 16384                    /* number of slots, a power of two */
#define UW_CONTENT_HASHES_AT_ONCE_BYTES (1024 * 1024)  /* files of up to this size are read on the loop's thread */
#define UW_CONTENT_HASHES_BYTES_MAX (64 * 1024 * 1024) /* larger files are never read for their hash */
#define UW_CONTENT_HASHES_REST_SECONDS 2               /* large files are read after so long without a change */
#define UW_CONTENT_HASHES_PENDING_MAX 16               /* files that wait for a job, each with its own descriptor */

struct uw_content_hash {
    struct uw_file_identity identity; /* inode 0: unused slot */
    uint64_t hash;
};

struct uw_content_hashes {
    struct uw_background_jobs *jobs; /* NULL: large files have no hash */
    struct uw_content_hash *known;
    struct uw_list pending; /* unfinished jobs */
    size_t pending_count;
    int error; /* -errno of a recent failure to read, or 0. The code that reports it sets it to 0 */
};

/* Returns 0 or -ENOMEM. */
int uw_content_hashes_open(struct uw_content_hashes *hashes, struct uw_background_jobs *jobs);

/* The jobs must be stopped before. */
void uw_content_hashes_close(struct uw_content_hashes *hashes);

bool uw_content_hashes_have(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity,
                            uint64_t *hash);

/* Returns true if files of this size have a hash. */
static inline bool uw_content_hashes_are_for(int64_t size)
{
    return size <= UW_CONTENT_HASHES_BYTES_MAX;
}

/* Stores the content hash of the open file `fd` with this identity. Reads a small file at once. Returns false if the
 * file has changed just now, cannot be read, or is large and unknown. A large file that is at rest is then read by a
 * job, and a later call returns its hash. */
bool uw_content_hashes_find(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity,
                            uint64_t *hash);

#endif
