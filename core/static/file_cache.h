/* Open descriptors and small contents of the files beneath one folder. What it holds is looked at again at most once a
 * second and replaced when the file is another one, was written to or is gone; whoever is still sending the old one
 * holds a reference. Belongs to one loop. */
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

/* What a path names: a file, in one or several codings. Valid until the next call that takes the cache. */
struct uw_resource {
    struct uw_list recent;          /* in cache->recent */
    struct uw_list open;            /* in cache->open, if it has a descriptor */
    struct uw_resource *next;       /* in its bucket */
    int64_t checked_ns, touched_ns; /* when the path was looked at, and what was opened by it */
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
    struct uw_list open;   /* those with a descriptor, likewise */
    size_t entries, bytes, descriptors;
};

/* `root` remains the caller's, and so do the texts in `settings`, and `errands`, which large files have their entity
 * tags from; NULL: they are weak. Returns 0 or -errno. */
int uw_file_cache_open(struct uw_file_cache *cache, int root, const struct uw_file_cache_settings *settings,
                       struct uw_errands *errands);

/* Once the errands are stopped. */
void uw_file_cache_close(struct uw_file_cache *cache);

/* The file `path`, relative and without dot segments. Returns 0; -EISDIR when it is a folder; or another -errno. */
int uw_file_cache_find(struct uw_file_cache *cache, const char *path, size_t length, int64_t now_ns,
                       struct uw_resource **found);

/* Closes the files that nobody is being sent. Returns how many. */
size_t uw_file_cache_give_up(struct uw_file_cache *cache);

#endif
