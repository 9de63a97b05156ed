/* Publish and subscribe within one loop: who wants what is published in a channel, by its name or by a pattern of
 * names, gets it while it is published, in the order of subscribing. Belongs to the loop's thread; from_afar.h is for
 * others. */
#ifndef UW_PUSH_CHANNELS_H
#define UW_PUSH_CHANNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/siphash.h"
#include "base/slab.h"
#include "push/afar_room.h"
#include "push/glob.h"
#include "push/shared_frame.h"

#define UW_CHANNEL_BYTES_MAX 1024  /* of a name */
#define UW_PATTERNS_MAX 1024       /* different ones: each is compared with every name */
#define UW_PUBLISH_DEPTH_MAX 8     /* of publishing within a delivery */
#define UW_CHANNELS_BUCKETS_MIN 16 /* a power of two */
#define UW_CHANNELS_SPARSE 8       /* so many times more buckets than channels are too many */

struct uw_service;

/* What is subscribed to: a channel by its name, or all whose names match a pattern. */
struct uw_topic {
    const char *name;
    size_t length;
    bool pattern;
};

struct uw_channel;
struct uw_cursor;
struct uw_letter;

/* What is being published: the publisher's bytes, as long as that takes. */
struct uw_publication {
    const char *channel;
    size_t channel_length;
    struct uw_shared_message message;
    bool text;              /* its publisher says so: valid UTF-8 */
    bool checked, valid;    /* whether it is valid all the same */
    struct uw_letter *kept; /* see letter.h; NULL: nobody had to */
    uint64_t number;        /* of all that have been */
};

/* Lives in its owner, zeroed at first. */
struct uw_subscriber {
    struct uw_list link;
    struct uw_channel *channel; /* NULL: none */
    uint64_t since;             /* the number of the last publication before it came */

    /* May subscribe and unsubscribe whom it likes, and free this. Returns false for a message that it had to drop. */
    bool (*deliver)(struct uw_subscriber *subscriber, struct uw_publication *publication);
};

/* Ever growing, but for the last three. Any thread may read them. */
struct uw_channel_counts {
    _Atomic uint64_t published, delivered, dropped; /* the latter two count receivers */
    _Atomic uint64_t channels, patterns, subscribers;
};

struct uw_channels {
    struct uw_service *service;
    struct uw_channel **buckets;
    size_t bucket_mask;
    uint64_t key[UW_SIPHASH_KEY_WORDS];
    struct uw_list patterns;
    struct uw_list ears;   /* see ear.h */
    struct uw_slab chunks; /* with shared frames */
    struct uw_cursor *cursors;
    unsigned depth;
    struct uw_channel_counts counts;
    struct uw_afar_room *room;

    /* A topic has got its first subscriber, or has none; or NULL. Must leave the channels alone. */
    void (*changed)(void *context, const struct uw_topic *topic, bool has_subscribers);
    void *context; /* its own */

    /* Brings what is published here further, to other processes, before it is delivered here; or NULL. */
    void (*spread)(void *context, const struct uw_publication *publication);
    void *spread_context; /* its own */
};

/* For the server. NULL when memory is exhausted. They are freed when the connections are, by the thread that frees
 * those: subscribers that there are then are nobody's any more. */
struct uw_channels *uw_channels_new(struct uw_service *service);
void uw_channels_free(struct uw_channels *channels);

/* The caller's own from now on, on whatever thread: for a server whose thread has ended. */
void uw_channels_own(struct uw_channels *channels);

/* Whether there may be such a topic. Any thread. */
bool uw_topic_is_valid(const struct uw_topic *topic);

/* `subscriber` has its function, and no channel. Returns 0; -EINVAL for a topic that may not be; -ENOSPC for one
 * pattern too many; -ENOMEM. */
int uw_subscribe(struct uw_channels *channels, struct uw_subscriber *subscriber, const struct uw_topic *topic);

/* Somebody relies on a subscriber that there cannot be: `changed` hears that the topic has none, unless it has others.
 */
void uw_tell_refused(struct uw_channels *channels, const struct uw_topic *topic);

/* It gets no more. Does nothing to one without a channel. */
void uw_unsubscribe(struct uw_channels *channels, struct uw_subscriber *subscriber);

/* Calls `function` with each topic that has subscribers; it must leave the channels alone. */
void uw_each_topic(struct uw_channels *channels, void (*function)(void *context, const struct uw_topic *topic),
                   void *context);

/* What `subscriber` has subscribed to. */
struct uw_topic uw_topic_of(const struct uw_subscriber *subscriber);

/* Delivers to all who are subscribed now. Returns to how many, and 0 for a channel whose name is too long. */
size_t uw_publish(struct uw_channels *channels, struct uw_publication publication);

/* The same for what another process has published. */
size_t uw_publish_here(struct uw_channels *channels, struct uw_publication publication);

/* Tells other processes alone. */
void uw_spread(struct uw_channels *channels, struct uw_publication publication);

#endif
