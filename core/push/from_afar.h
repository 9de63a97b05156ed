/* Channels for other threads than the loop's. What a thread asks for is done on the loop's, in the order in which it
 * asks, and in order with what it has written to clients, see uw_client_post. A flood of it does not keep the loop from
 * all else, see uw_loop_line_up.
 *
 * All of it fails with -EAGAIN while as much waits as may: the caller may wait for room (afar_room.h), and ask again.
 * And with -ESHUTDOWN once the loop has ended, or -ENOMEM. What it must keep is copied. */
#ifndef UW_PUSH_FROM_AFAR_H
#define UW_PUSH_FROM_AFAR_H

#include "push/channels.h"
#include "push/subscriptions.h"

/* By uw_publish, or uw_publish_here. Also -EINVAL for a channel's name that is too long. */
int uw_afar_publish(struct uw_channels *channels, bool here, const char *channel, size_t channel_length,
                    const char *message, size_t length, bool text);

/* As uw_client_subscribe, after uw_client_may_subscribe. An error that the loop's thread finds is told to the handler:
 * UW_CLIENT_REFUSED. */
int uw_afar_client_subscribe(struct uw_client *client, const struct uw_topic *topic, enum uw_subscription_form form,
                             uint64_t number);
int uw_afar_client_unsubscribe(struct uw_client *client, uint64_t number);
int uw_afar_client_unsubscribe_all(struct uw_client *client, const char *name, size_t length);

/* Of an ear. What uw_ear_open cannot do closes it. These need no room, and are never told to wait: whoever opens or
 * closes one may have what the loop's thread waits for. */
int uw_afar_ear_open(struct uw_client *ear, const struct uw_topic *topic, uint64_t number);
int uw_afar_ear_close(struct uw_client *ear);

/* What something of `bytes` bytes, names included, takes of the room. */
size_t uw_afar_bytes(size_t bytes);

#endif
