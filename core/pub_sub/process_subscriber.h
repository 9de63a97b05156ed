/* A process subscriber: a subscriber without a client's connection. The handler serves its messages as events of a
 * client: UW_PUSH_PUBLISHED for each, and UW_PUSH_CLOSED at the end. Each has one subscription. */
#ifndef UW_PUB_SUB_PROCESS_SUBSCRIBER_H
#define UW_PUB_SUB_PROCESS_SUBSCRIBER_H

#include "pub_sub/channels.h"
#include "push/push_client.h"

extern const struct uw_push_client_kind uw_push_client_process_subscriber;

/* Works like uw_push_client_new. Any thread, also before the server is open. */
struct uw_push_client *uw_process_subscriber_new(struct uw_server_context *server_context, void *user);

/* Subscribes, on the loop's thread like the functions below. Returns what uw_push_client_subscribe does. A failure
 * closes the subscriber. */
int uw_process_subscriber_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number);

/* Ends the subscription and drops messages that wait for the handler. A second call does nothing. */
void uw_process_subscriber_close(struct uw_push_client *subscriber);

/* For the server: frees the handler's events after the loop has been closed. */
void uw_process_subscribers_discard(struct uw_channels *channels);

static inline bool uw_push_client_is_process_subscriber(const struct uw_push_client *client)
{
    return client->kind == &uw_push_client_process_subscriber;
}

#endif
