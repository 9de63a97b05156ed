/* Channels and patterns: whatever is subscribed to, given up and published, from within deliveries too, is delivered as
 * a model has it, whose patterns are matched in the simplest way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pub_sub/channel_pattern.h"
#include "pub_sub/channels.h"

#define SUBSCRIBERS 16
#define NAME_BYTES_MAX 32
#define STEPS_MAX 200

static const uint8_t *input;
static size_t input_left;
static int steps_left;
static struct uw_channels *channels;

static struct model {
    struct uw_subscriber subscriber;
    bool subscribed;
    struct uw_topic topic;
    char name[NAME_BYTES_MAX];
    uint64_t since; /* how much had been published when it came */
} models[SUBSCRIBERS];
static uint64_t published;

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "channels: not so: %s\n", what);
    abort();
}

static uint8_t next_byte(void)
{
    if (input_left == 0)
        return 0;
    input_left--;
    return *input++;
}

static size_t next_name(char *name)
{
    size_t length = next_byte() % NAME_BYTES_MAX;

    if (length > input_left)
        length = input_left;
    memcpy(name, input, length);
    input += length;
    input_left -= length;
    return length;
}

/* Patterns, element by element */

static const char *member_end(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);

    if (left >= 2 && *at == '\\')
        return at + 2;
    return left >= 3 && at[1] == '-' ? at + 3 : at + 1;
}

static bool is_member(const char *at, size_t length, unsigned char byte)
{
    unsigned char first = (unsigned char)at[0], last = (unsigned char)at[length - 1];

    if (length == 2)
        return byte == last;
    return first < last ? first <= byte && byte <= last : last <= byte && byte <= first;
}

/* Sets `*at` behind the set. */
static bool is_in_set(const char **at, const char *end, unsigned char byte)
{
    bool inverted = *at < end && **at == '^', found = false;

    for (*at += inverted; *at < end && **at != ']';) {
        const char *next = member_end(*at, end);

        found |= is_member(*at, (size_t)(next - *at), byte);
        *at = next;
    }
    *at += *at < end;
    return found != inverted;
}

/* Sets `*at` behind the element. */
static bool fits(const char **at, const char *end, char byte)
{
    char first = *(*at)++;

    if (first == '?')
        return true;
    if (first == '[')
        return is_in_set(at, end, (unsigned char)byte);
    if (first == '\\' && *at < end)
        first = *(*at)++;
    return first == byte;
}

/* Back to the last star where it does not fit. */
static bool matches(const char *at, const char *end, const char *name, const char *name_end)
{
    const char *star = NULL, *star_name = NULL;

    while (name < name_end || at < end) {
        if (at < end && *at == '*') {
            star = ++at;
            star_name = name;
        } else if (at < end && name < name_end && fits(&at, end, *name)) {
            name++;
        } else if (star && star_name < name_end) {
            at = star;
            name = ++star_name;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_meant(const struct uw_topic *topic, const char *name, size_t length)
{
    if (topic->pattern)
        return matches(topic->name, topic->name + topic->length, name, name + length);
    return topic->length == length && memcmp(topic->name, name, length) == 0;
}

/* Steps */

static void step(void);

static bool deliver(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    struct model *model = uw_container_of(subscriber, struct model, subscriber);

    must(model->subscribed, "who hears has subscribed");
    must(model->since < publication->number, "nobody hears what came before");
    must(is_meant(&model->topic, publication->channel, publication->channel_length), "it is meant");
    if (next_byte() % 4 == 0)
        step();
    return true;
}

static void give_up(struct model *model)
{
    uw_unsubscribe(channels, &model->subscriber);
    model->subscribed = false;
}

static void subscribe(struct model *model)
{
    if (model->subscribed)
        give_up(model);
    model->topic = (struct uw_topic){.name = model->name, .pattern = next_byte() % 2};
    model->topic.length = next_name(model->name);
    model->subscriber = (struct uw_subscriber){.deliver = deliver};
    model->since = published;
    model->subscribed = true;
    must(uw_subscribe(channels, &model->subscriber, &model->topic) == 0, "it is subscribed");
}

static size_t count_meant(const char *name, size_t length)
{
    size_t count = 0;

    for (int i = 0; i < SUBSCRIBERS; i++)
        count += models[i].subscribed && is_meant(&models[i].topic, name, length);
    return count;
}

/* Without steps in between, all its subscribers receive it. */
static void publish(void)
{
    char name[NAME_BYTES_MAX];
    size_t length = next_name(name), meant = count_meant(name, length), heard;
    int steps = steps_left;
    bool too_deep = channels->depth == UW_PUBLISH_DEPTH_MAX;

    published += !too_deep;
    heard =
        uw_publish(channels, (struct uw_publication){.channel = name, .channel_length = length, .message.bytes = ""});
    must(steps != steps_left || heard == (too_deep ? 0 : meant), "all hear it");
}

static void step(void)
{
    struct model *model = &models[next_byte() % SUBSCRIBERS];

    if (steps_left == 0)
        return;
    steps_left--;
    switch (next_byte() % 3) {
    case 0:
        subscribe(model);
        return;
    case 1:
        give_up(model);
        return;
    default:
        publish();
    }
}

static void check_counts(void)
{
    size_t subscribers = 0;

    for (int i = 0; i < SUBSCRIBERS; i++)
        subscribers += models[i].subscribed;
    must(atomic_load(&channels->counts.subscribers) == subscribers, "subscribers are counted");
    must(atomic_load(&channels->counts.published) == published, "what is published is counted");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_left = size;
    steps_left = STEPS_MAX;
    published = 0;
    memset(models, 0, sizeof models);
    channels = uw_channels_new(NULL);
    must(channels != NULL, "there is memory");
    while (input_left > 0 && steps_left > 0) {
        step();
        check_counts();
    }
    for (int i = 0; i < SUBSCRIBERS; i++)
        give_up(&models[i]);
    must(atomic_load(&channels->counts.channels) + atomic_load(&channels->counts.patterns) == 0, "none is left");
    uw_channels_free(channels);
    return 0;
}
