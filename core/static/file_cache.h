/* A cache of descriptors and small contents of the files beneath one directory. Entries are checked at most once a
 * second. An entry is replaced if its file has changed, was replaced or was deleted. A response that still sends the
 * old file has a reference. Belongs to one loop. */
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
#define UW_FILE_CACHE_DESCRIPTORS_SHARE 4 /* all caches of the process have at most 1/4 of its descriptors */

struct uw_file_cache_settings {
    /* Maximum number of representations, each with at most one descriptor: UW_FILE_CACHE_ENTRIES_MAX. */
    size_t entries_max;
    size_t bytes_max;       /* maximum bytes of heads and contents: UW_FILE_CACHE_BYTES_MAX */
    int64_t file_bytes_max; /* larger files are sent from their descriptors: UW_FILE_CACHE_FILE_BYTES_MAX */
    struct uw_media_types media_types;
    const char *cache_control; /* Cache-Control of every response, or NULL */
    bool precompressed;        /* `name.br`, `name.zst` and `name.gz` are other codings of `name` */
};

/* The file of a path, in one or several codings. Valid until the next call with the cache. */
struct uw_resource {
    struct uw_list recent;                      /* in cache->recent */
    struct uw_list open;                        /* in cache->open, if the resource has a descriptor */
    struct uw_resource *next;                   /* next resource of the bucket */
    int64_t checked_ns, descriptors_checked_ns; /* times of the last checks of the path and of its descriptors */
    unsigned codings;                           /* bits of the available codings, always with identity */
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
    struct uw_list recent; /* all resources, the most recently used at the end */
    struct uw_list open;   /* resources with a descriptor, in the same order */
    size_t entries, bytes, descriptors;
};

/* Opens a cache. The caller keeps `root`, the texts in `settings`, and `jobs`. `jobs` compute the entity tags of large
 * files. With NULL, large files have weak tags. Returns 0 or -errno. */
int uw_file_cache_open(struct uw_file_cache *cache, int root, const struct uw_file_cache_settings *settings,
                       struct uw_background_jobs *jobs);

/* The jobs must be stopped before. */
void uw_file_cache_close(struct uw_file_cache *cache);

/* Finds the file `path`, which is relative and has no dot segments. Returns 0, -EISDIR for a directory, or another
 * -errno. */
int uw_file_cache_find(struct uw_file_cache *cache, const char *path, size_t length, int64_t now_ns,
                       struct uw_resource **found);

/* Closes the files that no response is sending. Returns the number of closed descriptors. */
size_t uw_file_cache_give_up(struct uw_file_cache *cache);

#endif
