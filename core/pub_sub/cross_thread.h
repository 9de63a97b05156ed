/* Channels for other threads. The loop's thread executes a thread's calls in order, also relative to its writes to
 * clients (see uw_push_client_post). A flood of calls does not starve the loop, see uw_loop_post_bulk.
 *
 * All functions fail with -EAGAIN while the quota is used up: the caller may wait for quota (post_quota.h) and retry.
 * They fail with -ESHUTDOWN once the loop has ended, and with -ENOMEM. Arguments are copied. */
#ifndef UW_PUB_SUB_CROSS_THREAD_H
#define UW_PUB_SUB_CROSS_THREAD_H

#include "pub_sub/channels.h"
#include "pub_sub/subscriptions.h"

/* Calls uw_publish, or uw_publish_here. Returns -EINVAL, too, for a channel name that is too long. */
int uw_post_publish(struct uw_channels *channels, bool here, const char *channel, size_t channel_length,
                    const char *message, size_t length, bool text);

/* Works like uw_push_client_subscribe, after uw_push_client_may_subscribe. The handler gets UW_PUSH_REFUSED for an
 * error on the loop's thread. */
int uw_push_client_post_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                                  enum uw_subscription_form form, uint64_t number);
int uw_push_client_post_unsubscribe(struct uw_push_client *client, uint64_t number);
int uw_push_client_post_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic);

/* Functions for process subscribers. A failure of uw_process_subscriber_open closes the subscriber. These calls ignore
 * the quota, since their caller may block the loop's thread. */
int uw_process_subscriber_post_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number);
int uw_process_subscriber_post_close(struct uw_push_client *subscriber);

/* Returns the quota that a call with `bytes` bytes, names included, needs. */
size_t uw_post_bytes(size_t bytes);

#endif
