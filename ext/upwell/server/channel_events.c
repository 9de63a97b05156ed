#include "server/channel_events.h"

#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>

#include "pub_sub/process_subscriber.h"
#include "server/reactor.h"

#define RB_UW_CHANGES_MAX 8192 /* waiting changes; more are replaced by a list of all topics */

/* A channel has got its first subscriber, or has lost its last one. */
struct rb_uw_change {
    struct rb_uw_change *next;
    bool pattern, has_subscribers;
    size_t length;
    char name[];
};

/* A subscription made before the loop exists. The context keeps the client. */
struct rb_uw_early_subscriber {
    struct rb_uw_early_subscriber *next;
    struct uw_push_client *subscriber;
    uint64_t number;
    bool pattern;
    size_t length;
    char name[];
};

void rb_uw_channels_init(struct rb_uw_channels *channels)
{
    if (pthread_mutex_init(&channels->lock, NULL) || pthread_cond_init(&channels->changed, NULL))
        rb_memerror();
    channels->last = &channels->first;
}

static void free_changes(struct rb_uw_change *change)
{
    while (change) {
        struct rb_uw_change *next = change->next;

        free(change);
        change = next;
    }
}

void rb_uw_reactor_free_channels(struct rb_uw_reactor *reactor)
{
    struct rb_uw_early_subscriber *early = reactor->channels.early;

    free_changes(reactor->channels.first);
    while (early) {
        struct rb_uw_early_subscriber *next = early->next;

        free(early);
        early = next;
    }
    if (rb_uw_reactor_is_copy(reactor)) /* see rb_uw_rack_context_free */
        return;
    pthread_cond_destroy(&reactor->channels.changed);
    pthread_mutex_destroy(&reactor->channels.lock);
}

/* Changes. The caller holds the lock, here and in the functions up to `note_change`. */

static void forget_changes(struct rb_uw_channels *channels)
{
    free_changes(channels->first);
    channels->first = NULL;
    channels->last = &channels->first;
    channels->waiting = 0;
    channels->whole = false;
}

/* Returns whether there was memory for it. */
static bool append(struct rb_uw_channels *channels, const struct uw_topic *topic, bool has_subscribers)
{
    struct rb_uw_change *change = malloc(sizeof *change + topic->length);

    if (!change)
        return false;
    change->next = NULL;
    change->pattern = topic->pattern;
    change->has_subscribers = has_subscribers;
    change->length = topic->length;
    memcpy(change->name, topic->name, topic->length);
    *channels->last = change;
    channels->last = &change->next;
    return true;
}

static void note(struct rb_uw_channels *channels, const struct uw_topic *topic, bool has_subscribers)
{
    if (channels->lost)
        return;
    channels->lost = channels->waiting >= RB_UW_CHANGES_MAX || !append(channels, topic, has_subscribers);
    if (channels->lost)
        forget_changes(channels);
    else
        channels->waiting++;
    pthread_cond_broadcast(&channels->changed);
}

static void note_change(void *context, const struct uw_topic *topic, bool has_subscribers)
{
    struct rb_uw_channels *channels = context;

    pthread_mutex_lock(&channels->lock);
    note(channels, topic, has_subscribers);
    pthread_mutex_unlock(&channels->lock);
}

/* All topics */

static void list(void *context, const struct uw_topic *topic)
{
    struct rb_uw_channels *channels = context;

    channels->whole &= append(channels, topic, true);
}

/* Lists all topics, on the loop's thread. Without memory for a topic, the list is not marked as complete, so that the
 * topic does not count as removed. */
static void answer(struct uw_loop *loop, struct uw_message *message)
{
    struct rb_uw_channels *channels = uw_container_of(message, struct rb_uw_channels, question);
    const struct rb_uw_reactor *reactor = uw_container_of(channels, struct rb_uw_reactor, channels);

    (void)loop;
    pthread_mutex_lock(&channels->lock);
    channels->lost = channels->asked = false;
    channels->whole = true;
    uw_each_topic(reactor->base.server.server_context.channels, list, channels);
    pthread_cond_broadcast(&channels->changed);
    pthread_mutex_unlock(&channels->lock);
}

static bool is_to_ask(const struct rb_uw_channels *channels)
{
    return channels->lost && !channels->asked && channels->open && !channels->ended;
}

/* Asks the loop for all topics. The caller holds the lock; the loop exists until `ended` is set. */
static void ask(struct rb_uw_channels *channels)
{
    struct rb_uw_reactor *reactor = uw_container_of(channels, struct rb_uw_reactor, channels);

    channels->asked = true;
    channels->question.receive = answer;
    uw_loop_post(&reactor->base.server.server_context.loop, &channels->question);
}

/* The loop's thread */

static struct rb_uw_early_subscriber *take_early(struct rb_uw_channels *channels)
{
    struct rb_uw_early_subscriber *early;

    pthread_mutex_lock(&channels->lock);
    early = channels->early;
    channels->early = NULL;
    channels->open = true;
    pthread_cond_broadcast(&channels->changed);
    pthread_mutex_unlock(&channels->lock);
    return early;
}

void rb_uw_reactor_open_channels(struct rb_uw_reactor *reactor)
{
    struct uw_channels *channels = reactor->base.server.server_context.channels;
    struct rb_uw_early_subscriber *early = take_early(&reactor->channels);

    channels->changed = note_change;
    channels->context = &reactor->channels;
    while (early) {
        struct rb_uw_early_subscriber *next = early->next;
        struct uw_topic topic = {.name = early->name, .length = early->length, .pattern = early->pattern};

        (void)uw_process_subscriber_open(early->subscriber, &topic, early->number);
        free(early);
        early = next;
    }
}

void rb_uw_reactor_end_channels(struct rb_uw_reactor *reactor)
{
    pthread_mutex_lock(&reactor->channels.lock);
    reactor->channels.ended = true;
    pthread_cond_broadcast(&reactor->channels.changed);
    pthread_mutex_unlock(&reactor->channels.lock);
}

/* Early subscriptions */

bool rb_uw_channels_listen_early(struct rb_uw_channels *channels, struct uw_push_client *subscriber,
                                 const struct uw_topic *topic, uint64_t number)
{
    struct rb_uw_early_subscriber *early = malloc(sizeof *early + topic->length), **last = &channels->early;
    bool open;

    if (!early)
        rb_memerror();
    early->next = NULL;
    early->subscriber = subscriber;
    early->number = number;
    early->pattern = topic->pattern;
    early->length = topic->length;
    memcpy(early->name, topic->name, topic->length);
    pthread_mutex_lock(&channels->lock);
    open = channels->open;
    while (*last)
        last = &(*last)->next;
    if (!open)
        *last = early;
    pthread_mutex_unlock(&channels->lock);
    if (open)
        free(early);
    return !open;
}

bool rb_uw_channels_forget_early(struct rb_uw_channels *channels, const struct uw_push_client *subscriber)
{
    struct rb_uw_early_subscriber **link = &channels->early, *found;

    pthread_mutex_lock(&channels->lock);
    while (*link && (*link)->subscriber != subscriber)
        link = &(*link)->next;
    found = *link;
    if (found) {
        *link = found->next;
        note(channels, &(struct uw_topic){found->name, found->length, found->pattern}, false); /* others yet open */
    }
    pthread_mutex_unlock(&channels->lock);
    free(found);
    return found;
}

/* Waiting for changes */

struct hearing {
    struct rb_uw_channels *channels;
    bool interrupted;
};

static void *await_changes(void *argument)
{
    struct hearing *hearing = argument;
    struct rb_uw_channels *channels = hearing->channels;

    pthread_mutex_lock(&channels->lock);
    while (!channels->first && !channels->whole && !is_to_ask(channels) && !channels->ended && !hearing->interrupted)
        pthread_cond_wait(&channels->changed, &channels->lock);
    pthread_mutex_unlock(&channels->lock);
    return NULL;
}

static void interrupt(void *argument)
{
    struct hearing *hearing = argument;

    pthread_mutex_lock(&hearing->channels->lock);
    hearing->interrupted = true;
    pthread_cond_broadcast(&hearing->channels->changed);
    pthread_mutex_unlock(&hearing->channels->lock);
}

/* Returns the waiting changes. After an overflow, asks the loop for all topics. */
static struct rb_uw_change *take_changes(struct rb_uw_channels *channels, bool *whole, bool *ended)
{
    struct rb_uw_change *first;

    pthread_mutex_lock(&channels->lock);
    first = channels->first;
    *whole = channels->whole;
    *ended = channels->ended;
    channels->first = NULL;
    forget_changes(channels);
    if (is_to_ask(channels))
        ask(channels);
    pthread_mutex_unlock(&channels->lock);
    return first;
}

static VALUE array_of(const struct rb_uw_change *change)
{
    VALUE changes = rb_ary_new(), redis = ID2SYM(rb_intern("redis"));

    for (; change; change = change->next) {
        VALUE name = rb_utf8_str_new(change->name, (long)change->length);

        rb_ary_push(changes, rb_ary_new_from_args(3, name, change->pattern ? redis : Qnil,
                                                  change->has_subscribers ? Qtrue : Qfalse));
    }
    return changes;
}

VALUE rb_uw_channels_await_changes(struct rb_uw_channels *channels)
{
    struct rb_uw_change *first = NULL;
    bool whole = false, ended = false;
    VALUE changes;

    while (!first && !whole && !ended) {
        struct hearing hearing = {.channels = channels};

        rb_thread_call_without_gvl(await_changes, &hearing, interrupt, &hearing);
        first = take_changes(channels, &whole, &ended);
    }
    changes = first || whole ? rb_assoc_new(array_of(first), whole ? Qtrue : Qfalse) : Qnil;
    free_changes(first);
    return changes;
}
