/* A cache of descriptors and small contents of the files beneath one directory. Entries are checked at most once a
 * second, and replaced when the file is another one, has changed or is gone. A response that still sends the old file
 * has a reference. Belongs to one loop. */
#ifndef UW_STATIC_FILE_CACHE_H
#define UW_STATIC_FILE_CACHE_H

#include "base/clock.h"
#include "base/list.h"
#include "static/media_type.h"
#include "static/representation.h"

#define UW_FILE_CACHE_CHECK_NS UW_NS_PER_SECOND
#define UW_FILE_CACHE_ENTRIES_MAX 1000
#define UW_FILE_CACHE_BYTES_MAX (64 * 1024 * 1024)
#define UW_FILE_CACHE_FILE_BYTES_MAX 8192
#define UW_FILE_CACHE_DESCRIPTORS_SHARE 4 /* of the descriptors that the process may open, one in so many */

struct uw_file_cache_settings {
    size_t entries_max;     /* representations, each with at most one descriptor: UW_FILE_CACHE_ENTRIES_MAX. All caches
                               of the process together keep no more than a share of its descriptors */
    size_t bytes_max;       /* of heads and contents together: UW_FILE_CACHE_BYTES_MAX */
    int64_t file_bytes_max; /* a larger file is sent from its descriptor: UW_FILE_CACHE_FILE_BYTES_MAX */
    struct uw_media_types media_types;
    const char *cache_control; /* for every response, or NULL */
    bool precompressed;        /* `name.br`, `name.zst` and `name.gz` are other codings of `name` */
};

/* The file that a path names, in one or several codings. Valid until the next call with the cache. */
struct uw_resource {
    struct uw_list recent;          /* in cache->recent */
    struct uw_list open;            /* in cache->open, if it has a descriptor */
    struct uw_resource *next;       /* in its bucket */
    int64_t checked_ns, touched_ns; /* times of the last check of the path and of its open files */
    unsigned codings;               /* bits of those that are there; identity always is */
    struct uw_representation *representations[UW_CODING_COUNT];
    uint32_t hash, path_length;
    char path[];
};

struct uw_file_cache {
    int root;
    struct uw_file_cache_settings settings;
    struct uw_content_hashes hashes;
    struct uw_resource **buckets;
    size_t bucket_mask;
    struct uw_list recent; /* resources, the one used last at the end */
    struct uw_list open;   /* resources with a descriptor, in the same order */
    size_t entries, bytes, descriptors;
};

/* `root` remains the caller's, and so do the texts in `settings`, and `jobs`, which large files have their entity
 * tags from; NULL: they are weak. Returns 0 or -errno. */
int uw_file_cache_open(struct uw_file_cache *cache, int root, const struct uw_file_cache_settings *settings,
                       struct uw_background_jobs *jobs);

/* After the jobs are stopped. */
void uw_file_cache_close(struct uw_file_cache *cache);

/* The file `path`, relative and without dot segments. Returns 0; -EISDIR when it is a directory; or another -errno. */
int uw_file_cache_find(struct uw_file_cache *cache, const char *path, size_t length, int64_t now_ns,
                       struct uw_resource **found);

/* Closes files that no response is sending. Returns the number closed. */
size_t uw_file_cache_give_up(struct uw_file_cache *cache);

#endif
