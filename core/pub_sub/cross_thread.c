#include "pub_sub/cross_thread.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pub_sub/process_subscriber.h"
#include "server/server_context.h"

/* A call that the loop's thread executes */
struct call {
    struct uw_message message;
    struct uw_channels *channels;
    void (*run)(struct call *call);
    struct uw_push_client *client; /* referenced client, or NULL */
    uint64_t number;
    enum uw_subscription_form form;
    bool text, pattern, here;
    bool unlimited; /* ignores the quota. Such a call needs no more memory than its subscriber */
    size_t name_length, length;
    char bytes[]; /* the channel's name, then the message */
};

static bool is_closing(const struct call *call)
{
    return call->channels->server_context->closing;
}

static struct uw_topic call_topic(const struct call *call)
{
    return (struct uw_topic){.name = call->bytes, .length = call->name_length, .pattern = call->pattern};
}

static size_t call_bytes(const struct call *call)
{
    return sizeof *call + call->name_length + call->length;
}

size_t uw_post_bytes(size_t bytes)
{
    return sizeof(struct call) + bytes;
}

/* Calls */

static void execute_call(struct uw_loop *loop, struct uw_message *message)
{
    struct call *call = uw_container_of(message, struct call, message);

    (void)loop;
    call->run(call);
    uw_post_quota_return(call->channels->quota, call_bytes(call));
    if (call->client)
        uw_push_client_release(call->client);
    free(call);
}

static struct call *call_new(struct uw_channels *channels, const struct call *filled, const char *name,
                             const char *bytes)
{
    struct call *call = malloc(call_bytes(filled));

    if (!call)
        return NULL;
    *call = *filled;
    call->channels = channels;
    call->message.receive = execute_call;
    memcpy(call->bytes, name, call->name_length);
    memcpy(call->bytes + call->name_length, bytes, call->length);
    return call;
}

/* The loop may have ended after uw_post_quota_take. A message would then never be received. */
static int post_call(struct call *call)
{
    struct uw_channels *channels = call->channels;
    struct uw_post_quota *quota = channels->quota;
    int error;

    pthread_mutex_lock(&quota->lock);
    error = quota->closed ? -ESHUTDOWN : 0;
    if (!error) {
        if (call->client)
            uw_push_client_retain(call->client);
        uw_loop_post_bulk(&channels->server_context->loop, &call->message);
    }
    pthread_mutex_unlock(&quota->lock);
    return error;
}

/* Queues a call with a copy of the bytes. Returns 0 or -errno. */
static int copy_and_post(struct uw_channels *channels, struct call filled, const char *name, const char *bytes)
{
    size_t all = call_bytes(&filled);
    struct call *call;
    int error = uw_post_quota_take(channels->quota, all, filled.unlimited);

    if (error)
        return error;
    call = call_new(channels, &filled, name, bytes);
    error = call ? post_call(call) : -ENOMEM;
    if (error) {
        free(call);
        uw_post_quota_return(channels->quota, all);
    }
    return error;
}

/* Publishing */

static void execute_publish(struct call *call)
{
    const struct uw_publication publication = {
        .channel = call->bytes,
        .channel_length = call->name_length,
        .message = {.bytes = call->bytes + call->name_length, .length = call->length},
        .text = call->text,
    };

    if (!is_closing(call))
        (void)(call->here ? uw_publish_here : uw_publish)(call->channels, publication);
    else if (!call->here)
        uw_publish_elsewhere(call->channels, publication); /* the last response may have been sent before this call */
}

int uw_post_publish(struct uw_channels *channels, bool here, const char *channel, size_t channel_length,
                    const char *message, size_t length, bool text)
{
    struct call call = {
        .run = execute_publish, .here = here, .name_length = channel_length, .length = length, .text = text};

    return channel_length > UW_CHANNEL_BYTES_MAX ? -EINVAL : copy_and_post(channels, call, channel, message);
}

/* Clients */

static void execute_subscribe(struct call *call)
{
    struct uw_push_client *client = call->client;
    struct uw_topic topic = call_topic(call);
    int error;

    if (is_closing(call)) {
        atomic_fetch_sub(&client->subscribed, 1);
        return;
    }
    error = uw_push_client_subscribe(client, &topic, call->form, call->number);
    if (error && error != -EPIPE)
        uw_push_client_notify_refused(client);
}

int uw_push_client_post_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                                  enum uw_subscription_form form, uint64_t number)
{
    struct call call = {.run = execute_subscribe,
                        .client = client,
                        .form = form,
                        .number = number,
                        .name_length = topic->length,
                        .pattern = topic->pattern};

    if (!uw_topic_is_valid(topic))
        return -EINVAL;
    return copy_and_post(client->server_context->channels, call, topic->name, "");
}

static void execute_unsubscribe(struct call *call)
{
    uw_push_client_unsubscribe(call->client, call->number);
}

int uw_push_client_post_unsubscribe(struct uw_push_client *client, uint64_t number)
{
    struct call call = {.run = execute_unsubscribe, .client = client, .number = number};

    return copy_and_post(client->server_context->channels, call, "", "");
}

static void execute_unsubscribe_topic(struct call *call)
{
    struct uw_topic topic = call_topic(call);

    uw_push_client_unsubscribe_topic(call->client, &topic);
}

int uw_push_client_post_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic)
{
    struct call call = {
        .run = execute_unsubscribe_topic, .client = client, .pattern = topic->pattern, .name_length = topic->length};

    if (topic->length > UW_CHANNEL_BYTES_MAX)
        return -EINVAL;
    return copy_and_post(client->server_context->channels, call, topic->name, "");
}

static void execute_open(struct call *call)
{
    struct uw_topic topic = call_topic(call);

    if (!is_closing(call))
        (void)uw_process_subscriber_open(call->client, &topic, call->number);
}

int uw_process_subscriber_post_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number)
{
    struct call call = {.run = execute_open,
                        .client = subscriber,
                        .number = number,
                        .unlimited = true,
                        .name_length = topic->length,
                        .pattern = topic->pattern};

    return uw_topic_is_valid(topic) ? copy_and_post(subscriber->server_context->channels, call, topic->name, "")
                                    : -EINVAL;
}

static void execute_close(struct call *call)
{
    uw_process_subscriber_close(call->client);
}

int uw_process_subscriber_post_close(struct uw_push_client *subscriber)
{
    struct call call = {.run = execute_close, .client = subscriber, .unlimited = true};

    return copy_and_post(subscriber->server_context->channels, call, "", "");
}
