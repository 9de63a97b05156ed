/* Publish and subscribe within one loop. Subscribers name a channel or a pattern of channel names, and get each message
 * during the publication, in the order of subscribing. Belongs to the loop's thread; other threads use cross_thread.h.
 */
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

#define UW_CHANNEL_BYTES_MAX 1024  /* of a name */
#define UW_PATTERNS_MAX 1024       /* different ones: each is compared with every name */
#define UW_PUBLISH_DEPTH_MAX 8     /* of publishing within a delivery */
#define UW_CHANNELS_BUCKETS_MIN 16 /* a power of two */
#define UW_CHANNELS_SPARSE 8       /* so many times more buckets than channels are too many */

struct uw_server_context;

/* A subscription's target: one channel by its name, or all channels whose names match a pattern. */
struct uw_topic {
    const char *name;
    size_t length;
    bool pattern;
};

struct uw_channel;
struct uw_cursor;
struct uw_stored_message;

/* A message during its publication. The bytes belong to the publisher and are valid until the publication returns. */
struct uw_publication {
    const char *channel;
    size_t channel_length;
    struct uw_shared_message message;
    bool text;                      /* its publisher says so: valid UTF-8 */
    bool checked, valid;            /* whether it is valid all the same */
    struct uw_stored_message *kept; /* see stored_message.h; NULL when no subscriber had to store it */
    uint64_t number;                /* of all that have been */
};

/* Embedded in its owner, zeroed at first. */
struct uw_subscriber {
    struct uw_list link;
    struct uw_channel *channel; /* NULL: none */
    uint64_t since;             /* the number of the last publication before it came */

    /* May subscribe, unsubscribe and free this subscriber. Returns false for a message that was dropped. */
    bool (*deliver)(struct uw_subscriber *subscriber, struct uw_publication *publication);
};

/* Ever growing, but for the last four. Any thread may read them. */
struct uw_channel_counts {
    _Atomic uint64_t published, delivered, dropped; /* `delivered` and `dropped` count receivers */
    _Atomic uint64_t channels, patterns, subscribers;
    _Atomic uint64_t behind; /* subscribers with at least half of UW_PUBLISHED_WAITING_MAX or UW_PUBLISHED_BYTES_MAX
                                waiting for the handler */
};

struct uw_channels {
    struct uw_server_context *server_context;
    struct uw_channel **buckets;
    size_t bucket_mask;
    uint64_t key[UW_SIPHASH_KEY_WORDS];
    struct uw_list patterns;
    struct uw_list process_subscribers; /* see process_subscriber.h */
    struct uw_slab chunks;              /* with shared frames */
    struct uw_cursor *cursors;
    unsigned depth;
    struct uw_channel_counts counts;
    struct uw_post_quota *quota;

    /* A topic has got its first subscriber, or has lost its last one. May be NULL. Must not use the channels. */
    void (*changed)(void *context, const struct uw_topic *topic, bool has_subscribers);
    void *context; /* its own */

    /* Passes messages published here to other processes, before they are delivered here. May be NULL. */
    void (*spread)(void *context, const struct uw_publication *publication);
    void *spread_context; /* its own */
};

/* For the server. Returns NULL when memory is exhausted. The thread that frees the connections frees the channels after
 * them; the remaining subscribers then have no channel. */
struct uw_channels *uw_channels_new(struct uw_server_context *server_context);
void uw_channels_free(struct uw_channels *channels);

/* Makes the calling thread the owner, for a server whose thread has ended. */
void uw_channels_own(struct uw_channels *channels);

/* Whether a subscription may name such a topic. Any thread. */
bool uw_topic_is_valid(const struct uw_topic *topic);

/* `subscriber` has its function, and no channel. Returns 0; -EINVAL for a topic that may not be; -ENOSPC for one
 * pattern too many; -ENOMEM. */
int uw_subscribe(struct uw_channels *channels, struct uw_subscriber *subscriber, const struct uw_topic *topic);

/* A promised subscription has failed. `changed` reports that the topic has no subscribers, unless others exist. */
void uw_tell_refused(struct uw_channels *channels, const struct uw_topic *topic);

/* The subscriber gets no more messages. Does nothing for a subscriber without a channel. */
void uw_unsubscribe(struct uw_channels *channels, struct uw_subscriber *subscriber);

/* Calls `function` with each topic that has subscribers. `function` must not use the channels. */
void uw_each_topic(struct uw_channels *channels, void (*function)(void *context, const struct uw_topic *topic),
                   void *context);

/* Returns the topic to which `subscriber` has subscribed. */
struct uw_topic uw_topic_of(const struct uw_subscriber *subscriber);

/* Delivers to all current subscribers, here and in other processes. Returns the number of deliveries here, and 0 for a
 * channel whose name is too long. */
size_t uw_publish(struct uw_channels *channels, struct uw_publication publication);

/* Delivers a message in this process alone. */
size_t uw_publish_here(struct uw_channels *channels, struct uw_publication publication);

/* Passes a message to other processes alone. */
void uw_spread(struct uw_channels *channels, struct uw_publication publication);

#endif
