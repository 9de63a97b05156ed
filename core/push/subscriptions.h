/* What a client has subscribed to: each message is sent to it as it is, or told to its handler as an event. They end
 * with the client. Belongs to the loop's thread. */
#ifndef UW_PUSH_SUBSCRIPTIONS_H
#define UW_PUSH_SUBSCRIPTIONS_H

#include "push/channels.h"
#include "push/client.h"

#define UW_SUBSCRIPTIONS_MAX 1024            /* of a client */
#define UW_PUBLISHED_WAITING_MAX 1024        /* messages that wait for a client's handler; more are dropped */
#define UW_PUBLISHED_BYTES_MAX (1024 * 1024) /* likewise; one is always taken */

enum uw_subscription_form {
    UW_SUBSCRIBED_AS_IS, /* the message is sent as the publisher has it, text or binary */
    UW_SUBSCRIBED_TEXT,  /* as text, unless it is not valid UTF-8 */
    UW_SUBSCRIBED_BINARY,
    UW_SUBSCRIBED_EVENT, /* the handler is told: UW_CLIENT_PUBLISHED */
};

/* What an event UW_CLIENT_PUBLISHED says. */
struct uw_published {
    uint64_t subscription;         /* its number, which may have ended meanwhile */
    const char *channel, *message; /* in the request */
    size_t channel_length, length;
    bool text;
};

struct uw_published uw_published_of(const struct uw_request *request);

/* There may be room for one more subscription: takes it for the next uw_client_subscribe. Any thread. */
bool uw_client_may_subscribe(struct uw_client *client);

/* Subscribes by a number of the caller's, other than the client's other ones, after uw_client_may_subscribe. Of a topic
 * to which it has subscribed already, both not as an event, the new subscription takes the old one's place. Returns 0;
 * what uw_subscribe does; or -EPIPE for a client that is closed. */
int uw_client_subscribe(struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                        uint64_t number);

/* Ends the subscription of that number, if there is one. */
void uw_client_unsubscribe(struct uw_client *client, uint64_t number);

/* Ends all to channels and patterns of that name. */
void uw_client_unsubscribe_all(struct uw_client *client, const char *name, size_t length);

#endif
