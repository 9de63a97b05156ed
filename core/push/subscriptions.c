#include "push/subscriptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "push/letter.h"

struct uw_subscription {
    struct uw_subscriber subscriber;
    struct uw_client *client;
    struct uw_list link; /* in client->subscriptions */
    enum uw_subscription_form form;
    uint64_t number;
};

/* A message that waits for the handler, in client->published. */
struct note {
    struct uw_list link;
    struct uw_letter *letter;
    uint64_t subscription;
};

/* What comes before the bytes of an event. */
struct event_head {
    uint64_t subscription;
    size_t channel_length;
    bool text;
};

static struct uw_subscription *subscription_of(struct uw_list *link)
{
    return uw_owner(link, struct uw_subscription, link);
}

/* Messages as events */

static size_t bytes_of(const struct uw_letter *letter)
{
    return letter->channel_length + letter->length;
}

static void free_note(struct uw_client *client, struct note *note)
{
    client->published_waiting--;
    client->published_bytes -= bytes_of(note->letter);
    uw_list_remove(&note->link);
    uw_letter_release(note->letter);
    free(note);
}

/* Of messages one alone is told at a time, so that what else the client says has its turn. */
static bool tell(struct uw_client *client, struct uw_letter *letter, uint64_t subscription)
{
    struct event_head head = {subscription, letter->channel_length, letter->text};
    struct uw_request *request = uw_client_event_new(client, UW_CLIENT_PUBLISHED);

    if (!request)
        return false;
    if (uw_request_keep(request, (const char *)&head, sizeof head) ||
        uw_request_keep(request, letter->bytes, bytes_of(letter))) {
        uw_request_free(request);
        return false;
    }
    client->published_told = true;
    uw_client_tell(client, request);
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

static bool keep(struct uw_client *client, struct uw_letter *letter, uint64_t subscription)
{
    bool full = client->published_waiting == UW_PUBLISHED_WAITING_MAX ||
                (client->published_waiting && client->published_bytes + bytes_of(letter) > UW_PUBLISHED_BYTES_MAX);
    struct note *note = full ? NULL : malloc(sizeof *note);

    if (!note)
        return false;
    note->letter = uw_letter_hold(letter);
    note->subscription = subscription;
    uw_list_append(&client->published, &note->link);
    client->published_waiting++;
    client->published_bytes += bytes_of(letter);
    return true;
}

/* A note for whose event there is no memory is dropped, and the next one tried. */
static void served(struct uw_client *client)
{
    client->published_told = false;
    if (client->published_telling) /* by this, further out: the handler has served it at once */
        return;
    client->published_telling = true;
    while (!client->published_told && uw_client_is_open(client) && !uw_list_empty(&client->published)) {
        struct note *note = uw_owner(client->published.next, struct note, link);
        struct uw_letter *letter = uw_letter_hold(note->letter);
        uint64_t subscription = note->subscription;

        free_note(client, note);
        (void)tell(client, letter, subscription);
        uw_letter_release(letter);
    }
    client->published_telling = false;
}

/* Delivery */

static bool is_valid_text(struct uw_publication *publication)
{
    if (!publication->checked)
        publication->valid =
            publication->text || uw_utf8_is_text(publication->message.bytes, publication->message.length);
    publication->checked = true;
    return publication->valid;
}

static bool is_sent_as_text(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    if (subscription->form == UW_SUBSCRIBED_AS_IS)
        return publication->text;
    return subscription->form == UW_SUBSCRIBED_TEXT && is_valid_text(publication);
}

static bool send_to(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    struct uw_client *client = subscription->client;
    struct uw_chunk *chunk = NULL;

    if (!uw_client_is_behind(client))
        chunk = uw_shared_chunk(&publication->message, client, is_sent_as_text(subscription, publication),
                                &client->service->channels->chunks);
    return chunk && uw_client_send_framed(client, chunk);
}

/* What waits already comes first. */
static bool must_wait(const struct uw_client *client)
{
    return client->published_told || !uw_list_empty(&client->published);
}

static bool tell_to(const struct uw_subscription *subscription, struct uw_publication *publication)
{
    struct uw_client *client = subscription->client;

    if (!publication->kept)
        publication->kept = uw_letter_new(publication->channel, publication->channel_length, publication->message.bytes,
                                          publication->message.length, publication->text);
    if (!publication->kept)
        return false;
    return (must_wait(client) ? keep : tell)(client, publication->kept, subscription->number);
}

static bool deliver(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    struct uw_subscription *subscription = uw_owner(subscriber, struct uw_subscription, subscriber);

    if (!subscription->client->opened || !uw_client_is_open(subscription->client))
        return false;
    return (subscription->form == UW_SUBSCRIBED_EVENT ? tell_to : send_to)(subscription, publication);
}

/* Subscribing */

static void end(struct uw_subscription *subscription)
{
    struct uw_client *client = subscription->client;

    uw_list_remove(&subscription->link);
    uw_unsubscribe(client->service->channels, &subscription->subscriber);
    atomic_fetch_sub(&client->subscribed, 1);
    free(subscription);
}

/* The client gets no more of anything. */
static void end_all(struct uw_client *client)
{
    while (!uw_list_empty(&client->subscriptions))
        end(subscription_of(client->subscriptions.next));
    while (!uw_list_empty(&client->published))
        free_note(client, uw_owner(client->published.next, struct note, link));
}

static const struct uw_client_subscriber subscriber_functions = {.served = served, .ended = end_all};

static bool is_named(const struct uw_subscription *subscription, const char *name, size_t length)
{
    struct uw_topic topic = uw_topic_of(&subscription->subscriber);

    return topic.length == length && memcmp(topic.name, name, length) == 0;
}

static struct uw_subscription *find_sent(const struct uw_client *client, const struct uw_topic *topic)
{
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = node->next) {
        struct uw_subscription *subscription = subscription_of(node);

        if (subscription->form != UW_SUBSCRIBED_EVENT && is_named(subscription, topic->name, topic->length) &&
            uw_topic_of(&subscription->subscriber).pattern == topic->pattern)
            return subscription;
    }
    return NULL;
}

bool uw_client_may_subscribe(struct uw_client *client)
{
    if (atomic_fetch_add(&client->subscribed, 1) < UW_SUBSCRIPTIONS_MAX)
        return true;
    atomic_fetch_sub(&client->subscribed, 1);
    return false;
}

static int add(struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form, uint64_t number)
{
    struct uw_subscription *subscription = malloc(sizeof *subscription);
    int error;

    if (!subscription)
        return -ENOMEM;
    *subscription =
        (struct uw_subscription){.subscriber = {.deliver = deliver}, .client = client, .form = form, .number = number};
    error = uw_subscribe(client->service->channels, &subscription->subscriber, topic);
    if (error) {
        free(subscription);
        return error;
    }
    client->subscriber = &subscriber_functions;
    uw_list_append(&client->subscriptions, &subscription->link);
    return 0;
}

/* Returns whether there was one. */
static bool replace(const struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                    uint64_t number)
{
    struct uw_subscription *subscription = form == UW_SUBSCRIBED_EVENT ? NULL : find_sent(client, topic);

    if (!subscription)
        return false;
    subscription->form = form;
    subscription->number = number;
    return true;
}

int uw_client_subscribe(struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                        uint64_t number)
{
    bool open = uw_client_is_open(client) && !client->has_left, replaced = open && replace(client, topic, form, number);
    int error = !open ? -EPIPE : replaced ? 0 : add(client, topic, form, number);

    UW_ASSERT_OWNER(&client->service->loop);
    if (error || replaced)
        atomic_fetch_sub(&client->subscribed, 1);
    return error;
}

void uw_client_unsubscribe(struct uw_client *client, uint64_t number)
{
    UW_ASSERT_OWNER(&client->service->loop);
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = node->next) {
        if (subscription_of(node)->number == number) {
            end(subscription_of(node));
            return;
        }
    }
}

void uw_client_unsubscribe_all(struct uw_client *client, const char *name, size_t length)
{
    struct uw_list *next;

    UW_ASSERT_OWNER(&client->service->loop);
    for (struct uw_list *node = client->subscriptions.next; node != &client->subscriptions; node = next) {
        next = node->next;
        if (is_named(subscription_of(node), name, length))
            end(subscription_of(node));
    }
}
