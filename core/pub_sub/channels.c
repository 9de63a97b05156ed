#include "pub_sub/channels.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/system.h"
#include "pub_sub/stored_message.h"

/* A channel or a pattern. It is freed with its last subscriber, unless a delivery uses it. */
struct uw_channel {
    struct uw_channel *next; /* next channel of the bucket */
    struct uw_list link;     /* in channels->patterns, for a pattern */
    struct uw_list subscribers;
    struct uw_channel_pattern *compiled; /* compiled pattern, or NULL for a channel */
    unsigned delivering;
    uint64_t hash;
    size_t length;
    char name[];
};

/* The position of a running delivery in a list of subscribers */
struct uw_cursor {
    struct uw_cursor *outer; /* delivery that has caused this delivery, or NULL */
    struct uw_list *next;
};

static void add_to_count(_Atomic uint64_t *number, uint64_t by)
{
    atomic_fetch_add_explicit(number, by, memory_order_relaxed);
}

/* The hash table of channels */

static uint64_t hash_name(const struct uw_channels *channels, const char *name, size_t length)
{
    return uw_siphash(channels->key, name, length);
}

static bool is_named(const struct uw_channel *channel, const char *name, size_t length)
{
    return channel->length == length && memcmp(channel->name, name, length) == 0;
}

static struct uw_channel *find_channel(const struct uw_channels *channels, const char *name, size_t length)
{
    uint64_t sum = hash_name(channels, name, length);
    struct uw_channel *channel = channels->buckets[sum & channels->bucket_mask];

    while (channel && !(channel->hash == sum && is_named(channel, name, length)))
        channel = channel->next;
    return channel;
}

static void insert_into_bucket(struct uw_channel **buckets, size_t mask, struct uw_channel *channel)
{
    channel->next = buckets[channel->hash & mask];
    buckets[channel->hash & mask] = channel;
}

/* Without memory the table keeps its size and is only slower. */
static void resize_table(struct uw_channels *channels, size_t size)
{
    struct uw_channel **buckets = calloc(size, sizeof(struct uw_channel *)), *next;

    if (!buckets)
        return;
    for (size_t i = 0; i <= channels->bucket_mask; i++) {
        for (struct uw_channel *channel = channels->buckets[i]; channel; channel = next) {
            next = channel->next;
            insert_into_bucket(buckets, size - 1, channel);
        }
    }
    free(channels->buckets);
    channels->buckets = buckets;
    channels->bucket_mask = size - 1;
}

static void resize_if_needed(struct uw_channels *channels)
{
    size_t size = channels->bucket_mask + 1, needed = (size_t)atomic_load(&channels->counts.channels);

    if (needed > size)
        resize_table(channels, 2 * size);
    else if (size > UW_CHANNELS_BUCKETS_MIN && needed * UW_CHANNELS_SPARSE < size)
        resize_table(channels, size / 2);
}

static void add_to_table(struct uw_channels *channels, struct uw_channel *channel)
{
    channel->hash = hash_name(channels, channel->name, channel->length);
    insert_into_bucket(channels->buckets, channels->bucket_mask, channel);
    add_to_count(&channels->counts.channels, 1);
    resize_if_needed(channels);
}

static void remove_from_table(struct uw_channels *channels, struct uw_channel *channel)
{
    struct uw_channel **link = &channels->buckets[channel->hash & channels->bucket_mask];

    while (*link != channel)
        link = &(*link)->next;
    *link = channel->next;
    add_to_count(&channels->counts.channels, (uint64_t)-1);
    resize_if_needed(channels);
}

/* Patterns */

static struct uw_channel *find_pattern(const struct uw_channels *channels, const char *name, size_t length)
{
    for (struct uw_list *node = channels->patterns.next; node != &channels->patterns; node = node->next) {
        struct uw_channel *pattern = uw_container_of(node, struct uw_channel, link);

        if (is_named(pattern, name, length))
            return pattern;
    }
    return NULL;
}

static int add_pattern(struct uw_channels *channels, struct uw_channel *pattern)
{
    if (atomic_load(&channels->counts.patterns) >= UW_PATTERNS_MAX)
        return -ENOSPC;
    pattern->compiled = uw_channel_pattern_compile(pattern->name, pattern->length);
    if (!pattern->compiled)
        return -ENOMEM;
    uw_list_append(&channels->patterns, &pattern->link);
    add_to_count(&channels->counts.patterns, 1);
    return 0;
}

/* Channels and patterns */

static struct uw_topic topic_of(const struct uw_channel *channel)
{
    return (struct uw_topic){.name = channel->name, .length = channel->length, .pattern = channel->compiled};
}

bool uw_topic_is_valid(const struct uw_topic *topic)
{
    return topic->length <= (topic->pattern ? UW_CHANNEL_PATTERN_BYTES_MAX : UW_CHANNEL_BYTES_MAX);
}

static struct uw_channel *find_topic(const struct uw_channels *channels, const struct uw_topic *topic)
{
    return (topic->pattern ? find_pattern : find_channel)(channels, topic->name, topic->length);
}

/* Stores the new channel in `*added`. Returns 0 or -errno. */
static int add_topic(struct uw_channels *channels, const struct uw_topic *topic, struct uw_channel **added)
{
    struct uw_channel *channel = calloc(1, sizeof *channel + topic->length);
    int error = 0;

    if (!channel)
        return -ENOMEM;
    uw_list_init(&channel->link);
    uw_list_init(&channel->subscribers);
    channel->length = topic->length;
    memcpy(channel->name, topic->name, topic->length);
    if (topic->pattern)
        error = add_pattern(channels, channel);
    else
        add_to_table(channels, channel);
    if (error)
        free(channel);
    else
        *added = channel;
    return error;
}

static void free_channel(struct uw_channel *channel)
{
    free(channel->compiled);
    free(channel);
}

static void report_change(struct uw_channels *channels, struct uw_topic topic, bool has_subscribers)
{
    if (channels->changed)
        channels->changed(channels->context, &topic, has_subscribers);
}

void uw_report_refused(struct uw_channels *channels, const struct uw_topic *topic)
{
    UW_ASSERT_OWNER(&channels->chunks);
    if (!find_topic(channels, topic))
        report_change(channels, *topic, false);
}

static void remove_if_empty(struct uw_channels *channels, struct uw_channel *channel)
{
    if (channel->delivering || !uw_list_empty(&channel->subscribers))
        return;
    if (channel->compiled)
        add_to_count(&channels->counts.patterns, (uint64_t)-1);
    else
        remove_from_table(channels, channel);
    uw_list_remove(&channel->link);
    report_change(channels, topic_of(channel), false);
    free_channel(channel);
}

/* Subscribing */

int uw_subscribe(struct uw_channels *channels, struct uw_subscriber *subscriber, const struct uw_topic *topic)
{
    struct uw_channel *channel;
    bool first;
    int error;

    UW_ASSERT_OWNER(&channels->chunks);
    assert(!subscriber->channel);
    if (!uw_topic_is_valid(topic))
        return -EINVAL;
    channel = find_topic(channels, topic);
    first = !channel;
    error = first ? add_topic(channels, topic, &channel) : 0;
    if (error)
        return error;
    subscriber->channel = channel;
    subscriber->subscribed_after = atomic_load(&channels->counts.published);
    uw_list_append(&channel->subscribers, &subscriber->link);
    add_to_count(&channels->counts.subscribers, 1);
    if (first)
        report_change(channels, *topic, true);
    return 0;
}

void uw_unsubscribe(struct uw_channels *channels, struct uw_subscriber *subscriber)
{
    struct uw_channel *channel = subscriber->channel;

    UW_ASSERT_OWNER(&channels->chunks);
    if (!channel)
        return;
    UW_INVARIANT(find_topic(channels, (struct uw_topic[]){topic_of(channel)}) == channel);
    for (struct uw_cursor *cursor = channels->cursors; cursor; cursor = cursor->outer)
        if (cursor->next == &subscriber->link)
            cursor->next = subscriber->link.next;
    uw_list_remove(&subscriber->link);
    subscriber->channel = NULL;
    UW_INVARIANT(atomic_load(&channels->counts.subscribers) > 0);
    add_to_count(&channels->counts.subscribers, (uint64_t)-1);
    remove_if_empty(channels, channel);
}

void uw_each_topic(struct uw_channels *channels, void (*function)(void *context, const struct uw_topic *topic),
                   void *context)
{
    struct uw_topic topic;

    UW_ASSERT_OWNER(&channels->chunks);
    for (size_t i = 0; i <= channels->bucket_mask; i++) {
        for (const struct uw_channel *channel = channels->buckets[i]; channel; channel = channel->next) {
            topic = topic_of(channel);
            function(context, &topic);
        }
    }
    for (const struct uw_list *node = channels->patterns.next; node != &channels->patterns; node = node->next) {
        topic = topic_of(uw_container_of(node, struct uw_channel, link));
        function(context, &topic);
    }
}

struct uw_topic uw_topic_of(const struct uw_subscriber *subscriber)
{
    return topic_of(subscriber->channel);
}

/* Publishing */

struct tally {
    size_t delivered, dropped;
};

/* A subscriber that is added during a publication does not get the message. Such subscribers are at the end of the
 * list. */
static void deliver_to_all(struct uw_channels *channels, struct uw_channel *channel, struct uw_publication *publication,
                           struct tally *tally)
{
    struct uw_cursor cursor = {.outer = channels->cursors, .next = channel->subscribers.next};

    channels->cursors = &cursor;
    while (cursor.next != &channel->subscribers) {
        struct uw_subscriber *subscriber = uw_container_of(cursor.next, struct uw_subscriber, link);

        if (subscriber->subscribed_after >= publication->number)
            break;
        cursor.next = cursor.next->next;
        if (subscriber->deliver(subscriber, publication))
            tally->delivered++;
        else
            tally->dropped++;
    }
    channels->cursors = cursor.outer;
}

static void deliver_to_channel(struct uw_channels *channels, struct uw_channel *channel,
                               struct uw_publication *publication, struct tally *tally)
{
    channel->delivering++;
    deliver_to_all(channels, channel, publication, tally);
    channel->delivering--;
}

static void deliver_by_name(struct uw_channels *channels, struct uw_publication *publication, struct tally *tally)
{
    struct uw_channel *channel = find_channel(channels, publication->channel, publication->channel_length);

    if (!channel)
        return;
    deliver_to_channel(channels, channel, publication, tally);
    remove_if_empty(channels, channel);
}

/* A pattern remains in the list during its delivery, so node->next stays valid. */
static void deliver_by_pattern(struct uw_channels *channels, struct uw_publication *publication, struct tally *tally)
{
    struct uw_list *node = channels->patterns.next;

    while (node != &channels->patterns) {
        struct uw_channel *pattern = uw_container_of(node, struct uw_channel, link);
        bool matches = uw_channel_pattern_matches(pattern->compiled, publication->channel, publication->channel_length);

        if (matches)
            deliver_to_channel(channels, pattern, publication, tally);
        node = node->next;
        if (matches)
            remove_if_empty(channels, pattern);
    }
}

static bool may_publish(const struct uw_channels *channels, const struct uw_publication *publication)
{
    return publication->channel_length <= UW_CHANNEL_BYTES_MAX && channels->depth < UW_PUBLISH_DEPTH_MAX;
}

size_t uw_publish_here(struct uw_channels *channels, struct uw_publication publication)
{
    struct tally tally = {0};

    UW_ASSERT_OWNER(&channels->chunks);
    if (!may_publish(channels, &publication))
        return 0;
    channels->depth++;
    publication.number = atomic_fetch_add(&channels->counts.published, 1) + 1;
    deliver_by_name(channels, &publication, &tally);
    deliver_by_pattern(channels, &publication, &tally);
    uw_shared_message_end(&publication.message);
    uw_stored_message_release(publication.stored);
    add_to_count(&channels->counts.delivered, tally.delivered);
    add_to_count(&channels->counts.dropped, tally.dropped);
    channels->depth--;
    return tally.delivered;
}

void uw_publish_elsewhere(struct uw_channels *channels, struct uw_publication publication)
{
    UW_ASSERT_OWNER(&channels->chunks);
    if (channels->spread && may_publish(channels, &publication))
        channels->spread(channels->spread_context, &publication);
}

/* Other processes get the message first. So this message precedes the messages that subscribers publish in response. */
size_t uw_publish(struct uw_channels *channels, struct uw_publication publication)
{
    uw_publish_elsewhere(channels, publication);
    return uw_publish_here(channels, publication);
}

/* Opening and closing */

static void choose_key(struct uw_channels *channels)
{
    if (uw_random(channels->key, sizeof channels->key))
        return;
    channels->key[0] = (uint64_t)uw_clock_ns(); /* predictable, but different in each process */
    channels->key[1] = (uint64_t)(uintptr_t)channels;
}

struct uw_channels *uw_channels_new(struct uw_server_context *server_context)
{
    struct uw_channels *channels = calloc(1, sizeof *channels);

    if (!channels)
        return NULL;
    channels->buckets = calloc(UW_CHANNELS_BUCKETS_MIN, sizeof *channels->buckets);
    channels->quota = channels->buckets ? uw_post_quota_new() : NULL;
    if (!channels->quota) {
        free(channels->buckets);
        free(channels);
        return NULL;
    }
    channels->server_context = server_context;
    channels->bucket_mask = UW_CHANNELS_BUCKETS_MIN - 1;
    choose_key(channels);
    uw_list_init(&channels->patterns);
    uw_list_init(&channels->process_subscribers);
    uw_slab_init(&channels->chunks, UW_SHARED_CHUNK_BYTES);
    uw_channels_own(channels);
    return channels;
}

void uw_channels_own(struct uw_channels *channels)
{
    uw_slab_own(&channels->chunks);
}

/* Frees a channel, but not its subscribers, which belong to their owners. */
static void discard_channel(struct uw_channel *channel)
{
    while (!uw_list_empty(&channel->subscribers)) {
        struct uw_subscriber *subscriber = uw_container_of(channel->subscribers.next, struct uw_subscriber, link);

        uw_list_remove(&subscriber->link);
        subscriber->channel = NULL;
    }
    free_channel(channel);
}

void uw_channels_free(struct uw_channels *channels)
{
    struct uw_channel *next;

    for (size_t i = 0; i <= channels->bucket_mask; i++) {
        for (struct uw_channel *channel = channels->buckets[i]; channel; channel = next) {
            next = channel->next;
            discard_channel(channel);
        }
    }
    while (!uw_list_empty(&channels->patterns)) {
        struct uw_channel *pattern = uw_container_of(channels->patterns.next, struct uw_channel, link);

        uw_list_remove(&pattern->link);
        discard_channel(pattern);
    }
    uw_slab_destroy(&channels->chunks);
    uw_post_quota_release(channels->quota);
    free(channels->buckets);
    free(channels);
}
