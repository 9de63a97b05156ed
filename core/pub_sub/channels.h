/* Publish/subscribe within one loop. A subscriber names a channel or a pattern of channel names. Messages are delivered
 * during the publication, in the order of subscribing. Belongs to the loop's thread. Other threads use
 * cross_thread.h. */
#ifndef UW_PUB_SUB_CHANNELS_H
#define UW_PUB_SUB_CHANNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/siphash.h"
#include "base/slab.h"
#include "pub_sub/channel_pattern.h"
#include "pub_sub/post_quota.h"
#include "push/shared_frame.h"

#define UW_CHANNEL_BYTES_MAX 1024  /* maximum length of a channel name */
#define UW_PATTERNS_MAX 1024       /* maximum number of different patterns, because each is compared with every name */
#define UW_PUBLISH_DEPTH_MAX 8     /* maximum depth of publications within deliveries */
#define UW_CHANNELS_BUCKETS_MIN 16 /* minimum size of the hash table, a power of two */
#define UW_CHANNELS_SPARSE 8       /* the table shrinks if it has so many times more buckets than channels */

struct uw_server_context;

/* The target of a subscription: a channel name, or a pattern of channel names. */
struct uw_topic {
    const char *name;
    size_t length;
    bool pattern;
};

struct uw_channel;
struct uw_cursor;
struct uw_stored_message;

/* A message during its publication. The bytes belong to the publisher and are valid until the publication ends. */
struct uw_publication {
    const char *channel;
    size_t channel_length;
    struct uw_shared_message message;
    bool text;                        /* the publisher has declared the message as text, so it is valid UTF-8 */
    bool utf8_checked, utf8_valid;    /* whether the bytes have been checked, and are valid UTF-8 */
    struct uw_stored_message *stored; /* copy for deferred deliveries, or NULL: see stored_message.h */
    uint64_t number;                  /* sequence number of the publication */
};

/* Embedded in its owner, initially zero. */
struct uw_subscriber {
    struct uw_list link;
    struct uw_channel *channel; /* NULL: not subscribed */
    uint64_t subscribed_after;  /* number of the last publication before the subscription */

    /* The callback may subscribe, unsubscribe, and free this subscriber. Returns false if the message was dropped. */
    bool (*deliver)(struct uw_subscriber *subscriber, struct uw_publication *publication);
};

/* The first line only grows. The other members are current numbers. Any thread may read the counts. */
struct uw_channel_counts {
    _Atomic uint64_t published, delivered, dropped; /* `delivered` and `dropped`: per receiver */
    _Atomic uint64_t channels, patterns, subscribers;
    /* Number of clients with at least half of UW_PUBLISHED_WAITING_MAX or UW_PUBLISHED_BYTES_MAX waiting for the
     * handler. */
    _Atomic uint64_t behind;
};

struct uw_channels {
    struct uw_server_context *server_context;
    struct uw_channel **buckets;
    size_t bucket_mask;
    uint64_t key[UW_SIPHASH_KEY_WORDS];
    struct uw_list patterns;
    struct uw_list process_subscribers; /* list of process subscribers: see process_subscriber.h */
    struct uw_slab chunks;              /* chunks of shared frames */
    struct uw_cursor *cursors;
    unsigned depth;
    struct uw_channel_counts counts;
    uint64_t published_measured; /* counts.published as far as it is in the metrics */
    struct uw_post_quota *quota;

    /* Called after the first subscription to a topic, and after the end of the last one. May be NULL. Must not use the
     * channels. */
    void (*changed)(void *context, const struct uw_topic *topic, bool has_subscribers);
    void *context; /* its own */

    /* Passes messages of this process to other processes, before their delivery here. May be NULL. */
    void (*spread)(void *context, const struct uw_publication *publication);
    void *spread_context; /* its own */
};

/* Called by the server. uw_channels_new returns NULL without memory. uw_channels_free must be called after the
 * connections have been freed, by the same thread. The remaining subscribers then have no channel. */
struct uw_channels *uw_channels_new(struct uw_server_context *server_context);
void uw_channels_free(struct uw_channels *channels);

/* Makes the calling thread the owner. The server's former thread must have exited. */
void uw_channels_own(struct uw_channels *channels);

/* Returns true if a subscription may have this topic: its length is valid. Any thread may call this function. */
bool uw_topic_is_valid(const struct uw_topic *topic);

/* Subscribes. `subscriber->deliver` is set, and the subscriber has no channel. Returns 0, -EINVAL for an invalid topic,
 * -ENOSPC beyond UW_PATTERNS_MAX, or -ENOMEM. */
int uw_subscribe(struct uw_channels *channels, struct uw_subscriber *subscriber, const struct uw_topic *topic);

/* Reports that a subscription has failed, which another thread regarded as certain. Calls `changed`, unless the topic
 * has other subscribers. */
void uw_report_refused(struct uw_channels *channels, const struct uw_topic *topic);

/* Ends the subscription at once, also during a delivery. Does nothing for a subscriber without a channel. */
void uw_unsubscribe(struct uw_channels *channels, struct uw_subscriber *subscriber);

/* Calls `function` for each topic with subscribers. `function` must not use the channels. */
void uw_each_topic(struct uw_channels *channels, void (*function)(void *context, const struct uw_topic *topic),
                   void *context);

/* Returns the topic of a subscriber with a channel. */
struct uw_topic uw_topic_of(const struct uw_subscriber *subscriber);

/* Delivers a message to all current subscribers, here and in other processes. Returns the number of deliveries in this
 * process. Returns 0 for a channel name that is too long. */
size_t uw_publish(struct uw_channels *channels, struct uw_publication publication);

/* Delivers a message in this process only. */
size_t uw_publish_here(struct uw_channels *channels, struct uw_publication publication);

/* Passes a message to other processes only. */
void uw_publish_elsewhere(struct uw_channels *channels, struct uw_publication publication);

#endif
