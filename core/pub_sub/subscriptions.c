#include "pub_sub/subscriptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "pub_sub/stored_message.h"

struct uw_subscription {
    struct uw_subscriber subscriber;
    struct uw_push_client *client;
    struct uw_list link; /* in client->subscriptions */
    enum uw_subscription_form form;
    uint64_t number;
};

/* A message that waits for the handler, in client->published */
struct waiting_message {
    struct uw_list link;
    struct uw_stored_message *stored;
    uint64_t subscription;
};

/* Head of an event's bytes, before the channel and the message */
struct event_head {
    uint64_t subscription;
    size_t channel_length;
    bool text;
};

static struct uw_subscription *subscription_of(struct uw_list *link)
{
    return uw_container_of(link, struct uw_subscription, link);
}

/* Messages as events for the handler */

static size_t stored_bytes(const struct uw_stored_message *stored)
{
    return stored->channel_length + stored->length;
}

static bool is_half_full(const struct uw_push_client *client)
{
    return client->published_waiting >= UW_PUBLISHED_WAITING_MAX / 2 ||
           client->published_bytes >= UW_PUBLISHED_BYTES_MAX / 2;
}

/* Sets the number and size of waiting messages. Updates the count `behind`. */
static void set_waiting(struct uw_push_client *client, unsigned messages, size_t bytes)
{
    bool half_full_before = is_half_full(client), half_full_now;

    client->published_waiting = messages;
    client->published_bytes = bytes;
    half_full_now = is_half_full(client);
    if (half_full_now && !half_full_before)
        atomic_fetch_add(&client->server_context->channels->counts.behind, 1);
    else if (half_full_before && !half_full_now)
        atomic_fetch_sub(&client->server_context->channels->counts.behind, 1);
}

static void free_waiting_message(struct uw_push_client *client, struct waiting_message *waiting_message)
{
    set_waiting(client, client->published_waiting - 1, client->published_bytes - stored_bytes(waiting_message->stored));
    uw_list_remove(&waiting_message->link);
    uw_stored_message_release(waiting_message->stored);
    free(waiting_message);
}

/* Posts one message as an event for the handler. Only one event is pending at a time, so other events of the client are
 * served in between. */
static bool post_event(struct uw_push_client *client, struct uw_stored_message *stored, uint64_t subscription)
{
    struct event_head head = {subscription, stored->channel_length, stored->text};
    struct uw_request *request = uw_push_client_event_new(client, UW_PUSH_PUBLISHED);

    if (!request)
        return false;
    if (uw_request_keep(request, (const char *)&head, sizeof head) ||
        uw_request_keep(request, stored->bytes, stored_bytes(stored))) {
        uw_request_free(request);
        return false;
    }
    client->published_told = true;
    uw_push_client_notify(client, request);
    return true;
}

struct uw_published uw_published_of(const struct uw_request *request)
{
    const char *bytes = request->bytes + sizeof(struct event_head);
    struct event_head head;

    memcpy(&head, request->bytes, sizeof head);
    return (struct uw_published){
        .subscription = head.subscription,
        .channel = bytes,
        .channel_length = head.channel_length,
        .message = bytes + head.channel_length,
        .length = request->bytes_length - sizeof head - head.channel_length,
        .text = head.text,
    };
}

static bool enqueue_message(struct uw_push_client *client, struct uw_stored_message *stored, uint64_t subscription)
{
    bool full = client->published_waiting == UW_PUBLISHED_WAITING_MAX ||
                (client->published_waiting && client->published_bytes + stored_bytes(stored) > UW_PUBLISHED_BYTES_MAX);
    struct waiting_message *waiting_message = full ? NULL : malloc(sizeof *waiting_message);

    if (!waiting_message)
        return false;
    waiting_message->stored = uw_stored_message_retain(stored);
    waiting_message->subscription = subscription;
    uw_list_append(&client->published, &waiting_message->link);
    set_waiting(client, client->published_waiting + 1, client->published_bytes + stored_bytes(stored));
    return true;
}

/* Posts the next waiting message. Without memory this message is dropped, and the next message is tried. */
static void post_waiting_messages(struct uw_push_client *client)
{
    client->published_told = false;
    if (client->published_telling) /* the handler has served an event during the loop below, which goes on */
        return;
    client->published_telling = true;
    while (!client->published_told && uw_push_client_is_open(client) && !uw_list_empty(&client->published)) {
        struct waiting_message *waiting_message = uw_container_of(client->published.next, struct waiting_message, link);
        struct uw_stored_message *stored = uw_stored_message_retain(waiting_message->stored);
        uint64_t subscription = waiting_message->subscription;

        free_waiting_message(client, waiting_message);
        if (!post_event(client, stored, subscription))
            atomic_fetch_add(&client->server_context->channels->counts.dropped, 1);
        uw_stored_message_release(stored);
    }
    client->published_telling = false;
}

/* Delivery */

static bool is_valid_text(struct uw_publication *publication)
{
    if (!publication->utf8_checked)
        publication->utf8_valid =
            publication->text || uw_utf8_is_text(publication->message.bytes, publication->message.length);
    publication->utf8_checked = true;
    return publication->utf8_valid;
}

static bool is_sent_as_text(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    if (subscription->form == UW_SUBSCRIBED_AS_IS)
        return publication->text;
    return subscription->form == UW_SUBSCRIBED_TEXT && is_valid_text(publication);
}

static bool send_to_client(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    struct uw_push_client *client = subscription->client;
    struct uw_chunk *chunk = NULL;

    if (!uw_push_client_is_behind(client))
        chunk = uw_shared_chunk(&publication->message, client, is_sent_as_text(subscription, publication),
                                &client->server_context->channels->chunks);
    return chunk && uw_push_client_send_framed(client, chunk);
}

/* Messages that already wait are served first. */
static bool must_wait(const struct uw_push_client *client)
{
    return client->published_told || !uw_list_empty(&client->published);
}

static bool post_or_enqueue(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    struct uw_push_client *client = subscription->client;

    if (!publication->stored)
        publication->stored =
            uw_stored_message_new(publication->channel, publication->channel_length, publication->message.bytes,
                                  publication->message.length, publication->text);
    if (!publication->stored)
        return false;
    return (must_wait(client) ? enqueue_message : post_event)(client, publication->stored, subscription->number);
}

static bool deliver_publication(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    struct uw_subscription *subscription = uw_container_of(subscriber, struct uw_subscription, subscriber);

    if (!subscription->client->opened || !uw_push_client_is_open(subscription->client))
        return false;
    return (subscription->form == UW_SUBSCRIBED_EVENT ? post_or_enqueue : send_to_client)(subscription, publication);
}

/* Subscribing */

static void end_subscription(struct uw_subscription *subscription)
{
    struct uw_push_client *client = subscription->client;

    uw_list_remove(&subscription->link);
    uw_unsubscribe(client->server_context->channels, &subscription->subscriber);
    atomic_fetch_sub(&client->subscribed, 1);
    free(subscription);
}

/* Ends all subscriptions of a closed client, and drops its waiting messages. */
static void end_all_subscriptions(struct uw_push_client *client)
{
    while (!uw_list_empty(&client->subscriptions))
        end_subscription(subscription_of(client->subscriptions.next));
    while (!uw_list_empty(&client->published))
        free_waiting_message(client, uw_container_of(client->published.next, struct waiting_message, link));
}

static const struct uw_push_client_subscriber subscriber_functions = {.served = post_waiting_messages,
                                                                      .ended = end_all_subscriptions};

static bool has_topic(const struct uw_subscription *subscription, const struct uw_topic *topic)
{
    struct uw_topic own = uw_topic_of(&subscription->subscriber);

    return own.length == topic->length && own.pattern == topic->pattern &&
           memcmp(own.name, topic->name, topic->length) == 0;
}

static struct uw_subscription *find_sent_subscription(const struct uw_push_client *client, const struct uw_topic *topic)
{
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = node->next) {
        struct uw_subscription *subscription = subscription_of(node);

        if (subscription->form != UW_SUBSCRIBED_EVENT && has_topic(subscription, topic))
            return subscription;
    }
    return NULL;
}

bool uw_push_client_may_subscribe(struct uw_push_client *client)
{
    if (atomic_fetch_add(&client->subscribed, 1) < UW_SUBSCRIPTIONS_MAX)
        return true;
    atomic_fetch_sub(&client->subscribed, 1);
    return false;
}

static int add_subscription(struct uw_push_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                            uint64_t number)
{
    struct uw_subscription *subscription = malloc(sizeof *subscription);
    int error;

    if (!subscription)
        return -ENOMEM;
    *subscription = (struct uw_subscription){
        .subscriber = {.deliver = deliver_publication}, .client = client, .form = form, .number = number};
    error = uw_subscribe(client->server_context->channels, &subscription->subscriber, topic);
    if (error) {
        free(subscription);
        return error;
    }
    client->subscriber = &subscriber_functions;
    uw_list_append(&client->subscriptions, &subscription->link);
    return 0;
}

/* Returns false if the client has no subscription to the topic. */
static bool replace_subscription(const struct uw_push_client *client, const struct uw_topic *topic,
                                 enum uw_subscription_form form, uint64_t number)
{
    struct uw_subscription *subscription = form == UW_SUBSCRIBED_EVENT ? NULL : find_sent_subscription(client, topic);

    if (!subscription)
        return false;
    subscription->form = form;
    subscription->number = number;
    return true;
}

int uw_push_client_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                             enum uw_subscription_form form, uint64_t number)
{
    bool open = uw_push_client_is_open(client) && !client->input_ended,
         replaced = open && replace_subscription(client, topic, form, number);
    int error = !open ? -EPIPE : replaced ? 0 : add_subscription(client, topic, form, number);

    UW_ASSERT_OWNER(&client->server_context->loop);
    if (error || replaced)
        atomic_fetch_sub(&client->subscribed, 1);
    return error;
}

void uw_push_client_unsubscribe(struct uw_push_client *client, uint64_t number)
{
    UW_ASSERT_OWNER(&client->server_context->loop);
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = node->next) {
        if (subscription_of(node)->number == number) {
            end_subscription(subscription_of(node));
            return;
        }
    }
}

void uw_push_client_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic)
{
    struct uw_list *next;

    UW_ASSERT_OWNER(&client->server_context->loop);
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = next) {
        next = node->next;
        if (has_topic(subscription_of(node), topic))
            end_subscription(subscription_of(node));
    }
}
