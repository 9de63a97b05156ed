#include "static/file_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/path.h"

#define CODED_PATH_BYTES_MAX (UW_HTTP_PATH_BYTES_MAX + 8) /* with its suffix and the NUL */

int uw_file_cache_open(struct uw_file_cache *cache, int root, const struct uw_file_cache_settings *settings)
{
    size_t buckets = 16;

    while (buckets < settings->entries_max)
        buckets *= 2;
    *cache = (struct uw_file_cache){.root = root, .settings = *settings, .bucket_mask = buckets - 1};
    uw_list_init(&cache->recent);
    cache->buckets = calloc(buckets, sizeof *cache->buckets);
    return cache->buckets ? 0 : -ENOMEM;
}

/* FNV-1a: short keys, and who chooses file names is no attacker: only those that exist are kept. */
static uint32_t hash(const char *path, size_t length)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)path[i]) * 16777619u;
    return sum;
}

static struct uw_resource *look_up(struct uw_file_cache *cache, const char *path, size_t length, uint32_t key)
{
    struct uw_resource *resource = cache->buckets[key & cache->bucket_mask];

    while (resource &&
           !(resource->hash == key && resource->path_length == length && memcmp(resource->path, path, length) == 0))
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

/* Adds what a resource takes of the bounds, or takes it off again. */
static void account(struct uw_file_cache *cache, const struct uw_resource *resource, int sign)
{
    for (int coding = 0; coding < UW_CODING_COUNT; coding++) {
        if (!resource->representations[coding])
            continue;
        cache->entries += (size_t)sign;
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
    account(cache, resource, -1);
    free_resource(resource);
}

static void add_resource(struct uw_file_cache *cache, struct uw_resource *resource)
{
    struct uw_resource **bucket = &cache->buckets[resource->hash & cache->bucket_mask];

    resource->next = *bucket;
    *bucket = resource;
    uw_list_append(&cache->recent, &resource->recent);
    account(cache, resource, 1);
}

static struct uw_resource *least_recent(struct uw_file_cache *cache)
{
    return uw_owner(cache->recent.next, struct uw_resource, recent);
}

/* Keeps within the bounds; the one used last stays in any case. */
static void evict(struct uw_file_cache *cache)
{
    while ((cache->entries > cache->settings.entries_max || cache->bytes > cache->settings.bytes_max) &&
           cache->recent.next != cache->recent.previous)
        remove_resource(cache, least_recent(cache));
}

void uw_file_cache_close(struct uw_file_cache *cache)
{
    while (!uw_list_empty(&cache->recent))
        remove_resource(cache, least_recent(cache));
    free(cache->buckets);
}

static bool may_have(const struct uw_file_cache *cache, int coding)
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

/* Whether there still is what was there in that coding: the same file, or none. */
static bool is_current(struct uw_file_cache *cache, const struct uw_resource *resource, int coding)
{
    const struct uw_representation *known = resource->representations[coding];
    struct uw_file_identity now;
    char path[CODED_PATH_BYTES_MAX];
    int error;

    if (!may_have(cache, coding))
        return true;
    error = uw_file_probe(cache->root, coded_path(resource, coding, path), &now);
    if (!known)
        return error;
    return !error && !known->young && uw_file_identical(&known->identity, &now);
}

static bool check(struct uw_file_cache *cache, struct uw_resource *resource, int64_t now_ns)
{
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
                                   &fields, cache->settings.file_bytes_max);
    if (!error)
        resource->codings |= UW_CODING_BIT(coding);
    return error;
}

/* A coding that cannot be loaded is one that is not there: the file itself decides. Where an application answers for
 * what is no file, most paths name none: then no coding is looked for. */
static int load_codings(struct uw_file_cache *cache, struct uw_resource *resource)
{
    struct uw_file_identity identity;
    int error = cache->settings.precompressed ? uw_file_probe(cache->root, resource->path, &identity) : 0;

    if (error)
        return error;
    for (int coding = 0; coding < UW_CODING_IDENTITY; coding++)
        if (may_have(cache, coding))
            (void)load_coding(cache, resource, coding, true);
    return load_coding(cache, resource, UW_CODING_IDENTITY, resource->codings != 0);
}

static struct uw_resource *new_resource(const char *path, size_t length, uint32_t key, int64_t now_ns)
{
    struct uw_resource *resource = malloc(sizeof *resource + length + 1);

    if (!resource)
        return NULL;
    *resource = (struct uw_resource){.hash = key, .path_length = (uint32_t)length, .checked_ns = now_ns};
    memcpy(resource->path, path, length);
    resource->path[length] = '\0';
    uw_list_init(&resource->recent);
    return resource;
}

static bool has_descriptor(const struct uw_resource *resource)
{
    for (int coding = 0; coding < UW_CODING_COUNT; coding++)
        if (resource->representations[coding] && resource->representations[coding]->fd >= 0)
            return true;
    return false;
}

/* Descriptors have run out: one that is only kept in case it is asked for goes. Returns false when there is none. */
static bool give_up_descriptor(struct uw_file_cache *cache)
{
    for (struct uw_list *node = cache->recent.next; node != &cache->recent; node = node->next) {
        struct uw_resource *resource = uw_owner(node, struct uw_resource, recent);

        if (has_descriptor(resource)) {
            remove_resource(cache, resource);
            return true;
        }
    }
    return false;
}

static int load(struct uw_file_cache *cache, const char *path, size_t length, uint32_t key, int64_t now_ns,
                struct uw_resource **found)
{
    struct uw_resource *resource = new_resource(path, length, key, now_ns);
    int error = resource ? load_codings(cache, resource) : -ENOMEM;

    while ((error == -EMFILE || error == -ENFILE) && give_up_descriptor(cache))
        error = load_codings(cache, resource);
    if (error) {
        if (resource)
            free_resource(resource);
        return error;
    }
    add_resource(cache, resource);
    evict(cache);
    *found = resource;
    return 0;
}

int uw_file_cache_find(struct uw_file_cache *cache, const char *path, size_t length, int64_t now_ns,
                       struct uw_resource **found)
{
    uint32_t key = hash(path, length);
    struct uw_resource *resource = look_up(cache, path, length, key);

    if (resource && !check(cache, resource, now_ns)) {
        remove_resource(cache, resource);
        resource = NULL;
    }
    if (!resource)
        return load(cache, path, length, key, now_ns, found);
    if (cache->recent.previous != &resource->recent) {
        uw_list_remove(&resource->recent);
        uw_list_append(&cache->recent, &resource->recent);
    }
    *found = resource;
    return 0;
}
