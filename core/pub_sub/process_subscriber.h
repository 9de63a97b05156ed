/* A process subscriber is a subscriber without a connection. The handler gets its messages as events of a client:
 * UW_PUSH_PUBLISHED for each message, and UW_PUSH_CLOSED at the end. Each process subscriber has one subscription. */
#ifndef UW_PUB_SUB_PROCESS_SUBSCRIBER_H
#define UW_PUB_SUB_PROCESS_SUBSCRIBER_H

#include "pub_sub/channels.h"
#include "push/push_client.h"

extern const struct uw_push_client_kind uw_push_client_process_subscriber;

/* Same as uw_push_client_new. Any thread may call this function, also before the server is open. */
struct uw_push_client *uw_process_subscriber_new(struct uw_server_context *server_context, void *user);

/* Subscribes. Belongs to the loop's thread, like the functions below. Returns the result of uw_push_client_subscribe.
 * An error closes the subscriber. */
int uw_process_subscriber_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number);

/* Ends the subscription, and drops messages that wait for the handler. A second call does nothing. */
void uw_process_subscriber_close(struct uw_push_client *subscriber);

/* Called by the server after the loop has been closed. Frees the subscribers with their events. */
void uw_process_subscribers_discard(struct uw_channels *channels);

static inline bool uw_push_client_is_process_subscriber(const struct uw_push_client *client)
{
    return client->kind == &uw_push_client_process_subscriber;
}

#endif
