/* Changes of channels for a Ruby thread, and the subscriptions made before the loop exists. */
#ifndef RB_UPWELL_CHANNEL_EVENTS_H
#define RB_UPWELL_CHANNEL_EVENTS_H

#include <pthread.h>
#include <ruby.h>
#include <stdbool.h>

#include "io/loop.h"

struct rb_uw_change;
struct rb_uw_early_subscriber;
struct rb_uw_reactor;
struct uw_push_client;
struct uw_topic;

struct rb_uw_channels {
    pthread_mutex_t lock; /* for all of it */
    pthread_cond_t changed;
    struct rb_uw_change *first, **last; /* changes not returned yet */
    size_t waiting;                     /* the number of changes, without those of a list of all topics */
    bool whole;                         /* the changes begin with such a list */
    bool lost;                          /* changes were dropped: the loop must be asked for that list */
    bool asked;                         /* it has been, and has not answered */
    struct uw_message question;
    bool ended; /* there will be no more */
    bool open;  /* the loop exists, or existed */
    struct rb_uw_early_subscriber *early;
};

void rb_uw_channels_init(struct rb_uw_channels *channels);
void rb_uw_reactor_free_channels(struct rb_uw_reactor *reactor);

/* Returns whether no loop exists yet: then the subscriber opens together with the loop. Raises NoMemoryError. */
bool rb_uw_channels_listen_early(struct rb_uw_channels *channels, struct uw_push_client *subscriber,
                                 const struct uw_topic *topic, uint64_t number);

/* Returns whether the subscriber was one of these. */
bool rb_uw_channels_forget_early(struct rb_uw_channels *channels, const struct uw_push_client *subscriber);

/* Waits for changes and returns them, see reactor_channels.c. */
VALUE rb_uw_channels_await_changes(struct rb_uw_channels *channels);

/* Opens early subscriptions, on the loop's thread. */
void rb_uw_reactor_open_channels(struct rb_uw_reactor *reactor);

/* No more channel events follow. */
void rb_uw_reactor_end_channels(struct rb_uw_reactor *reactor);

#endif
