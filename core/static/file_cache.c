#include "static/file_cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd_limit.h"
#include "http/path.h"

#define CODED_PATH_BYTES_MAX (UW_HTTP_PATH_BYTES_MAX + 8) /* path with a suffix and the NUL */

static atomic_uint caches; /* number of caches in the process */

int uw_file_cache_open(struct uw_file_cache *cache, int root, const struct uw_file_cache_settings *settings,
                       struct uw_background_jobs *jobs)
{
    size_t buckets = 16;
    int error;

    while (buckets < settings->entries_max)
        buckets *= 2;
    *cache = (struct uw_file_cache){.root = root, .settings = *settings, .bucket_mask = buckets - 1};
    uw_list_init(&cache->recent);
    uw_list_init(&cache->open);
    cache->buckets = calloc(buckets, sizeof *cache->buckets);
    error = cache->buckets ? uw_content_hashes_open(&cache->hashes, jobs) : -ENOMEM;
    if (error) {
        free(cache->buckets);
        return error;
    }
    atomic_fetch_add_explicit(&caches, 1, memory_order_relaxed);
    return 0;
}

/* FNV-1a. The keys are short. Only existing files are cached, so an attacker cannot choose the keys. */
static uint32_t hash_path(const char *path, size_t length)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)path[i]) * 16777619u;
    return sum;
}

static struct uw_resource *find_cached(struct uw_file_cache *cache, const char *path, size_t length, uint32_t path_hash)
{
    struct uw_resource *resource = cache->buckets[path_hash & cache->bucket_mask];

    while (resource && !(resource->hash == path_hash && resource->path_length == length &&
                         memcmp(resource->path, path, length) == 0))
        resource = resource->next;
    return resource;
}

static void free_resource(struct uw_resource *resource)
{
    for (int coding = 0; coding < UW_CODING_COUNT; coding++)
        if (resource->representations[coding])
            uw_representation_release(resource->representations[coding]);
    free(resource);
}

/* Adds the resource's part to the totals, or subtracts it with `sign` -1. */
static void add_to_totals(struct uw_file_cache *cache, const struct uw_resource *resource, int sign)
{
    for (int coding = 0; coding < UW_CODING_COUNT; coding++) {
        if (!resource->representations[coding])
            continue;
        cache->entries += (size_t)sign;
        cache->descriptors += resource->representations[coding]->fd >= 0 ? (size_t)sign : 0;
        cache->bytes += (size_t)sign * resource->representations[coding]->bytes;
    }
}

static void remove_resource(struct uw_file_cache *cache, struct uw_resource *resource)
{
    struct uw_resource **link = &cache->buckets[resource->hash & cache->bucket_mask];

    while (*link != resource)
        link = &(*link)->next;
    *link = resource->next;
    uw_list_remove(&resource->recent);
    uw_list_remove(&resource->open);
    add_to_totals(cache, resource, -1);
    free_resource(resource);
}

/* Returns a descriptor of the resource, or -1. */
static int descriptor_of(const struct uw_resource *resource)
{
    int fd = -1;

    for (int coding = 0; coding < UW_CODING_COUNT && fd < 0; coding++)
        if (resource->representations[coding])
            fd = resource->representations[coding]->fd;
    return fd;
}

static void add_resource(struct uw_file_cache *cache, struct uw_resource *resource)
{
    struct uw_resource **bucket = &cache->buckets[resource->hash & cache->bucket_mask];

    resource->next = *bucket;
    *bucket = resource;
    uw_list_append(&cache->recent, &resource->recent);
    if (descriptor_of(resource) >= 0)
        uw_list_append(&cache->open, &resource->open);
    add_to_totals(cache, resource, 1);
}

static struct uw_resource *least_recent_resource(struct uw_file_cache *cache)
{
    return uw_container_of(cache->recent.next, struct uw_resource, recent);
}

/* Removes the least recently used entries above the limits, but never the last entry. */
static void evict_entries(struct uw_file_cache *cache)
{
    while ((cache->entries > cache->settings.entries_max || cache->bytes > cache->settings.bytes_max) &&
           cache->recent.next != cache->recent.previous)
        remove_resource(cache, least_recent_resource(cache));
}

/* Returns the maximum number of descriptors for this cache. `fd` is the newest descriptor. */
static size_t descriptors_max(int fd)
{
    unsigned all = UW_FILE_CACHE_DESCRIPTORS_SHARE * atomic_load_explicit(&caches, memory_order_relaxed);

    return uw_fd_limit_is_near(fd) ? 0 : (size_t)(uw_fd_limit() / all);
}

/* Closes the least recently used descriptors. `resource` is new and has a descriptor. */
static void evict_descriptors(struct uw_file_cache *cache, const struct uw_resource *resource)
{
    size_t most = descriptors_max(descriptor_of(resource));

    while (cache->descriptors > most && cache->open.next != &resource->open)
        remove_resource(cache, uw_container_of(cache->open.next, struct uw_resource, open));
}

void uw_file_cache_close(struct uw_file_cache *cache)
{
    while (!uw_list_empty(&cache->recent))
        remove_resource(cache, least_recent_resource(cache));
    uw_content_hashes_close(&cache->hashes);
    free(cache->buckets);
    atomic_fetch_sub_explicit(&caches, 1, memory_order_relaxed);
}

static bool coding_may_exist(const struct uw_file_cache *cache, int coding)
{
    return coding == UW_CODING_IDENTITY || cache->settings.precompressed;
}

static const char *coded_path(const struct uw_resource *resource, int coding, char path[CODED_PATH_BYTES_MAX])
{
    const char *suffix = uw_http_coding_suffix((enum uw_http_coding)coding);

    memcpy(path, resource->path, resource->path_length);
    memcpy(path + resource->path_length, suffix, strlen(suffix) + 1);
    return path;
}

/* A coded file that is older than the plain file has been made from an earlier version. */
static bool is_older(const struct uw_file_identity *coded, const struct uw_file_identity *plain)
{
    if (coded->modified.tv_sec != plain->modified.tv_sec)
        return coded->modified.tv_sec < plain->modified.tv_sec;
    return coded->modified.tv_nsec < plain->modified.tv_nsec;
}

/* A weak entity tag is replaced as soon as the content hash is known. */
static bool may_be_strong(struct uw_file_cache *cache, const struct uw_representation *representation)
{
    uint64_t hash;

    return representation->validators.weak &&
           uw_content_hashes_find(&cache->hashes, representation->fd, &representation->identity, &hash);
}

/* Last-Modified is sent as soon as no later version can have the same date. */
static bool may_be_dated(const struct uw_representation *representation)
{
    return !representation->validators.dated && uw_http_is_dated(representation->identity.modified.tv_sec);
}

/* Returns true if the coding is unchanged: the same file, or still no file. Also returns true if the check fails for
 * lack of descriptors. */
static bool is_current(struct uw_file_cache *cache, const struct uw_resource *resource, int coding)
{
    const struct uw_representation *known = resource->representations[coding];
    const struct uw_file_identity *plain = &resource->representations[UW_CODING_IDENTITY]->identity;
    struct uw_file_identity now;
    char path[CODED_PATH_BYTES_MAX];
    int error;

    if (!coding_may_exist(cache, coding))
        return true;
    error = uw_file_probe(cache->root, coded_path(resource, coding, path), &now);
    if (!known || uw_fd_limit_reached(error))
        return error || is_older(&now, plain);
    return !error && !known->young && uw_file_identical(&known->identity, &now) && !is_older(&now, plain) &&
           !may_be_strong(cache, known) && !may_be_dated(known);
}

/* The descriptor gives the current content of the file. After a write to the file, the strong tag and the date are
 * wrong. */
static bool descriptor_is_unchanged(const struct uw_representation *known)
{
    struct uw_file_identity now;

    if (!known || known->fd < 0 || (known->validators.weak && !known->validators.dated))
        return true;
    return !uw_file_identify(&now, known->fd) && uw_file_identical(&known->identity, &now);
}

/* One check for each loop iteration is enough. A write between the check and sendfile(2) is possible in any case. */
static bool descriptors_are_unchanged(struct uw_resource *resource, int64_t now_ns)
{
    if (resource->descriptors_checked_ns == now_ns)
        return true;
    for (int coding = 0; coding < UW_CODING_COUNT; coding++)
        if (!descriptor_is_unchanged(resource->representations[coding]))
            return false;
    resource->descriptors_checked_ns = now_ns;
    return true;
}

static bool is_valid(struct uw_file_cache *cache, struct uw_resource *resource, int64_t now_ns)
{
    if (!descriptors_are_unchanged(resource, now_ns))
        return false;
    if (now_ns - resource->checked_ns < UW_FILE_CACHE_CHECK_NS)
        return true;
    for (int coding = 0; coding < UW_CODING_COUNT; coding++)
        if (!is_current(cache, resource, coding))
            return false;
    resource->checked_ns = now_ns;
    return true;
}

static int load_coding(struct uw_file_cache *cache, struct uw_resource *resource, int coding, bool varies)
{
    struct uw_representation_fields fields = {
        .type = uw_media_type_find(&cache->settings.media_types, resource->path),
        .cache_control = cache->settings.cache_control,
        .coding = (enum uw_http_coding)coding,
        .varies = varies,
    };
    char path[CODED_PATH_BYTES_MAX];
    int error;

    if (resource->representations[coding])
        return 0;
    error = uw_representation_load(&resource->representations[coding], cache->root, coded_path(resource, coding, path),
                                   &fields, cache->settings.file_bytes_max, &cache->hashes);
    if (!error)
        resource->codings |= UW_CODING_BIT(coding);
    return error;
}

static void load_coded(struct uw_file_cache *cache, struct uw_resource *resource, int coding,
                       const struct uw_file_identity *plain)
{
    struct uw_representation **coded = &resource->representations[coding];

    if (load_coding(cache, resource, coding, true) || !is_older(&(*coded)->identity, plain))
        return;
    uw_representation_release(*coded);
    *coded = NULL;
    resource->codings &= ~UW_CODING_BIT(coding);
}

/* A coded file that fails to load counts as absent. In front of an application most paths name no file, so the plain
 * file is checked first. */
static int load_codings(struct uw_file_cache *cache, struct uw_resource *resource)
{
    struct uw_file_identity identity;
    int error = cache->settings.precompressed ? uw_file_probe(cache->root, resource->path, &identity) : 0;

    if (error)
        return error;
    for (int coding = 0; coding < UW_CODING_IDENTITY; coding++)
        if (coding_may_exist(cache, coding))
            load_coded(cache, resource, coding, &identity);
    return load_coding(cache, resource, UW_CODING_IDENTITY, resource->codings != 0);
}

static struct uw_resource *new_resource(const char *path, size_t length, uint32_t path_hash, int64_t now_ns)
{
    struct uw_resource *resource = malloc(sizeof *resource + length + 1);

    if (!resource)
        return NULL;
    *resource = (struct uw_resource){
        .hash = path_hash, .path_length = (uint32_t)length, .checked_ns = now_ns, .descriptors_checked_ns = now_ns};
    memcpy(resource->path, path, length);
    resource->path[length] = '\0';
    uw_list_init(&resource->recent);
    uw_list_init(&resource->open);
    return resource;
}

/* Returns true if removing the resource closes a descriptor. A response that is sending the file has another
 * reference. */
static bool is_idle(const struct uw_resource *resource)
{
    bool idle = false;

    for (int coding = 0; coding < UW_CODING_COUNT; coding++) {
        const struct uw_representation *representation = resource->representations[coding];

        idle = idle || (representation && representation->fd >= 0 && representation->references == 1);
    }
    return idle;
}

size_t uw_file_cache_give_up(struct uw_file_cache *cache)
{
    struct uw_list *node = cache->open.next, *next;
    size_t before = cache->descriptors;

    for (; node != &cache->open; node = next) {
        struct uw_resource *resource = uw_container_of(node, struct uw_resource, open);

        next = node->next;
        if (is_idle(resource))
            remove_resource(cache, resource);
    }
    return before - cache->descriptors;
}

static int load_resource(struct uw_file_cache *cache, const char *path, size_t length, uint32_t path_hash,
                         int64_t now_ns, struct uw_resource **found)
{
    struct uw_resource *resource = new_resource(path, length, path_hash, now_ns);
    int error = resource ? load_codings(cache, resource) : -ENOMEM;

    while (uw_fd_limit_reached(error) && uw_file_cache_give_up(cache))
        error = load_codings(cache, resource);
    if (error) {
        if (resource)
            free_resource(resource);
        return error;
    }
    add_resource(cache, resource);
    evict_entries(cache);
    if (!uw_list_empty(&resource->open))
        evict_descriptors(cache, resource);
    *found = resource;
    return 0;
}

static void move_to_end(struct uw_list *list, struct uw_list *node)
{
    if (list->previous == node)
        return;
    uw_list_remove(node);
    uw_list_append(list, node);
}

int uw_file_cache_find(struct uw_file_cache *cache, const char *path, size_t length, int64_t now_ns,
                       struct uw_resource **found)
{
    uint32_t path_hash = hash_path(path, length);
    struct uw_resource *resource = find_cached(cache, path, length, path_hash);

    if (resource && !is_valid(cache, resource, now_ns)) {
        remove_resource(cache, resource);
        resource = NULL;
    }
    if (!resource)
        return load_resource(cache, path, length, path_hash, now_ns, found);
    move_to_end(&cache->recent, &resource->recent);
    if (!uw_list_empty(&resource->open))
        move_to_end(&cache->open, &resource->open);
    *found = resource;
    return 0;
}
