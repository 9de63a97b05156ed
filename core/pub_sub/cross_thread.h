/* Channels for other threads. The loop's thread executes the calls of a thread in order. This order includes the
 * thread's writes to clients (see uw_push_client_post). A flood of calls does not starve the loop, see
 * uw_loop_post_bulk.
 *
 * All functions return 0 or -errno, and copy their arguments. -EAGAIN: the quota is used up. The caller may wait for
 * quota (post_quota.h) and retry. -ESHUTDOWN: the loop has ended. -ENOMEM: no memory. */
#ifndef UW_PUB_SUB_CROSS_THREAD_H
#define UW_PUB_SUB_CROSS_THREAD_H

#include "pub_sub/channels.h"
#include "pub_sub/subscriptions.h"

/* Calls uw_publish, or uw_publish_here with `here`. Also returns -EINVAL for a channel name that is too long. */
int uw_post_publish(struct uw_channels *channels, bool here, const char *channel, size_t channel_length,
                    const char *message, size_t length, bool text);

/* Calls uw_push_client_subscribe. The caller must have called uw_push_client_may_subscribe. The handler gets
 * UW_PUSH_REFUSED after an error on the loop's thread. */
int uw_push_client_post_subscribe(struct uw_push_client *client, const struct uw_topic *topic,
                                  enum uw_subscription_form form, uint64_t number);
int uw_push_client_post_unsubscribe(struct uw_push_client *client, uint64_t number);
int uw_push_client_post_unsubscribe_topic(struct uw_push_client *client, const struct uw_topic *topic);

/* Call uw_process_subscriber_open and uw_process_subscriber_close. These calls ignore the quota, because the caller may
 * block the loop's thread. */
int uw_process_subscriber_post_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number);
int uw_process_subscriber_post_close(struct uw_push_client *subscriber);

/* Returns the quota that a call with `bytes` bytes of names and messages needs. */
size_t uw_post_bytes(size_t bytes);

#endif
