#include "push/from_afar.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "push/ear.h"
#include "server/service.h"

/* Something that the loop's thread is to do. */
struct errand {
    struct uw_message message;
    struct uw_channels *channels;
    void (*run)(struct errand *errand);
    struct uw_client *client; /* held; or NULL */
    uint64_t number;
    enum uw_subscription_form form;
    bool text, pattern, here;
    bool pressing; /* has room in any case: it is no more than the ear that is its client */
    size_t name_length, length;
    char bytes[]; /* the channel's name, then the message */
};

static bool is_closing(const struct errand *errand)
{
    return errand->channels->service->closing;
}

static struct uw_topic topic_of(const struct errand *errand)
{
    return (struct uw_topic){.name = errand->bytes, .length = errand->name_length, .pattern = errand->pattern};
}

static size_t bytes_of(const struct errand *errand)
{
    return sizeof *errand + errand->name_length + errand->length;
}

size_t uw_afar_bytes(size_t bytes)
{
    return sizeof(struct errand) + bytes;
}

/* Errands */

static void receive(struct uw_loop *loop, struct uw_message *message)
{
    struct errand *errand = uw_owner(message, struct errand, message);

    (void)loop;
    errand->run(errand);
    uw_afar_room_give(errand->channels->room, bytes_of(errand));
    if (errand->client)
        uw_client_release(errand->client);
    free(errand);
}

static struct errand *errand_new(struct uw_channels *channels, const struct errand *filled, const char *name,
                                 const char *bytes)
{
    struct errand *errand = malloc(bytes_of(filled));

    if (!errand)
        return NULL;
    *errand = *filled;
    errand->channels = channels;
    errand->message.receive = receive;
    memcpy(errand->bytes, name, errand->name_length);
    memcpy(errand->bytes + errand->name_length, bytes, errand->length);
    return errand;
}

/* The loop may have ended since there was room: what comes after that is received by nobody. */
static int line_up(struct errand *errand)
{
    struct uw_channels *channels = errand->channels;
    struct uw_afar_room *room = channels->room;
    int error;

    pthread_mutex_lock(&room->lock);
    error = room->closed ? -ESHUTDOWN : 0;
    if (!error) {
        if (errand->client)
            uw_client_hold(errand->client);
        uw_loop_line_up(&channels->service->loop, &errand->message);
    }
    pthread_mutex_unlock(&room->lock);
    return error;
}

/* Its bytes follow. Returns 0 or -errno, and then there is none. */
static int send_off(struct uw_channels *channels, struct errand filled, const char *name, const char *bytes)
{
    size_t all = bytes_of(&filled);
    struct errand *errand;
    int error = uw_afar_room_take(channels->room, all, filled.pressing);

    if (error)
        return error;
    errand = errand_new(channels, &filled, name, bytes);
    error = errand ? line_up(errand) : -ENOMEM;
    if (error) {
        free(errand);
        uw_afar_room_give(channels->room, all);
    }
    return error;
}

/* Publishing */

static void publish(struct errand *errand)
{
    const struct uw_publication publication = {
        .channel = errand->bytes,
        .channel_length = errand->name_length,
        .message = {.bytes = errand->bytes + errand->name_length, .length = errand->length},
        .text = errand->text,
    };

    if (!is_closing(errand))
        (void)(errand->here ? uw_publish_here : uw_publish)(errand->channels, publication);
    else if (!errand->here)
        uw_spread(errand->channels, publication); /* the last answer may have overtaken it */
}

int uw_afar_publish(struct uw_channels *channels, bool here, const char *channel, size_t channel_length,
                    const char *message, size_t length, bool text)
{
    struct errand errand = {
        .run = publish, .here = here, .name_length = channel_length, .length = length, .text = text};

    return channel_length > UW_CHANNEL_BYTES_MAX ? -EINVAL : send_off(channels, errand, channel, message);
}

/* Clients */

static void subscribe_client(struct errand *errand)
{
    struct uw_client *client = errand->client;
    struct uw_topic topic = topic_of(errand);
    int error;

    if (is_closing(errand)) {
        atomic_fetch_sub(&client->subscribed, 1);
        return;
    }
    error = uw_client_subscribe(client, &topic, errand->form, errand->number);
    if (error && error != -EPIPE)
        uw_client_tell_refused(client);
}

int uw_afar_client_subscribe(struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                             uint64_t number)
{
    struct errand errand = {.run = subscribe_client,
                            .client = client,
                            .form = form,
                            .number = number,
                            .name_length = topic->length,
                            .pattern = topic->pattern};

    if (!uw_topic_is_valid(topic))
        return -EINVAL;
    return send_off(client->service->channels, errand, topic->name, "");
}

static void unsubscribe_client(struct errand *errand)
{
    uw_client_unsubscribe(errand->client, errand->number);
}

int uw_afar_client_unsubscribe(struct uw_client *client, uint64_t number)
{
    struct errand errand = {.run = unsubscribe_client, .client = client, .number = number};

    return send_off(client->service->channels, errand, "", "");
}

static void unsubscribe_client_all(struct errand *errand)
{
    uw_client_unsubscribe_all(errand->client, errand->bytes, errand->name_length);
}

int uw_afar_client_unsubscribe_all(struct uw_client *client, const char *name, size_t length)
{
    struct errand errand = {.run = unsubscribe_client_all, .client = client, .name_length = length};

    if (length > UW_CHANNEL_BYTES_MAX)
        return -EINVAL;
    return send_off(client->service->channels, errand, name, "");
}

static void open_ear(struct errand *errand)
{
    struct uw_topic topic = topic_of(errand);

    if (!is_closing(errand))
        (void)uw_ear_open(errand->client, &topic, errand->number);
}

int uw_afar_ear_open(struct uw_client *ear, const struct uw_topic *topic, uint64_t number)
{
    struct errand errand = {.run = open_ear,
                            .client = ear,
                            .number = number,
                            .pressing = true,
                            .name_length = topic->length,
                            .pattern = topic->pattern};

    return uw_topic_is_valid(topic) ? send_off(ear->service->channels, errand, topic->name, "") : -EINVAL;
}

static void close_ear(struct errand *errand)
{
    uw_ear_close(errand->client);
}

int uw_afar_ear_close(struct uw_client *ear)
{
    struct errand errand = {.run = close_ear, .client = ear, .pressing = true};

    return send_off(ear->service->channels, errand, "", "");
}
