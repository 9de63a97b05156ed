/* A client's subscriptions: each message is sent to the client as it is, or posted to its handler as an event.
 * Subscriptions end with the client. Belongs to the loop's thread. */
#ifndef UW_PUB_SUB_SUBSCRIPTIONS_H
#define UW_PUB_SUB_SUBSCRIPTIONS_H

#include "pub_sub/channels.h"
#include "push/push_client.h"

#define UW_SUBSCRIPTIONS_MAX 1024            /* of a client */
#define UW_PUBLISHED_WAITING_MAX 1024        /* messages that wait for a client's handler; more are dropped */
#define UW_PUBLISHED_BYTES_MAX (1024 * 1024) /* bytes of such messages; the first one is always accepted */

enum uw_subscription_form {
    UW_SUBSCRIBED_AS_IS, /* the message is sent with the publisher's type, text or binary */
    UW_SUBSCRIBED_TEXT,  /* as text, unless it is not valid UTF-8 */
    UW_SUBSCRIBED_BINARY,
    UW_SUBSCRIBED_EVENT, /* the handler gets UW_PUSH_PUBLISHED */
};

/* The content of an event UW_PUSH_PUBLISHED. */
struct uw_published {
    uint64_t subscription;         /* its number, which may have ended meanwhile */
    const char *channel, *message; /* in the request */
    size_t channel_length, length;
    bool text;
};

struct uw_published uw_published_of(const struct uw_request *request);

/* Reserves a subscription for the next uw_push_client_subscribe. Returns false at the limit. Any thread. */
bool uw_push_client_may_subscribe(struct uw_push_client *client);

/* Subscribes after uw_push_client_may_subscribe. `number` is unique among the client's subscriptions. A second
 * subscription to the same topic replaces the first, unless one of them is an event's. Returns 0; what uw_subscribe
 * does; or -EPIPE for a client that is closed. */
int uw_push_client_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                             enum uw_subscription_form form, uint64_t number);

/* Ends the subscription with that number, if any. */
void uw_push_client_unsubscribe(struct uw_push_client *client, uint64_t number);

/* Ends all to that channel, or to that pattern. */
void uw_push_client_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic);

#endif
