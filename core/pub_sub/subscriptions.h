/* Subscriptions of a client. Each message is sent to the client, or posted to its handler as an event. Subscriptions
 * end with the client. Belongs to the loop's thread. */
#ifndef UW_PUB_SUB_SUBSCRIPTIONS_H
#define UW_PUB_SUB_SUBSCRIPTIONS_H

#include "pub_sub/channels.h"
#include "push/push_client.h"

#define UW_SUBSCRIPTIONS_MAX 1024            /* subscriptions of one client */
#define UW_PUBLISHED_WAITING_MAX 1024        /* messages waiting for a client's handler. Further messages are dropped */
#define UW_PUBLISHED_BYTES_MAX (1024 * 1024) /* bytes of such messages. A single message is always accepted */

enum uw_subscription_form {
    UW_SUBSCRIBED_AS_IS, /* sent with the publisher's type, text or binary */
    UW_SUBSCRIBED_TEXT,  /* sent as text, or as binary if it is not valid UTF-8 */
    UW_SUBSCRIBED_BINARY,
    UW_SUBSCRIBED_EVENT, /* the handler gets UW_PUSH_PUBLISHED */
};

/* Content of an event UW_PUSH_PUBLISHED */
struct uw_published {
    uint64_t subscription;         /* number of the subscription, which may have ended meanwhile */
    const char *channel, *message; /* point into the request */
    size_t channel_length, length;
    bool text;
};

struct uw_published uw_published_of(const struct uw_request *request);

/* Reserves a subscription for the next uw_push_client_subscribe. Returns false at the limit. Any thread may call this
 * function. */
bool uw_push_client_may_subscribe(struct uw_push_client *client);

/* Subscribes. The caller must have called uw_push_client_may_subscribe. `number` is unique among the client's
 * subscriptions. A second subscription to the same topic replaces the first one, unless one of them has
 * UW_SUBSCRIBED_EVENT. Returns 0, an error of uw_subscribe, or -EPIPE for a closed client. */
int uw_push_client_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                             enum uw_subscription_form form, uint64_t number);

/* Ends the subscription with this number, if any. */
void uw_push_client_unsubscribe(struct uw_push_client *client, uint64_t number);

/* Ends all subscriptions to this topic. */
void uw_push_client_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic);

#endif
