/* The channels of Upwell::Client, and of the process. */
#ifndef RB_UPWELL_CLIENT_CHANNELS_H
#define RB_UPWELL_CLIENT_CHANNELS_H

#include "pub_sub/channels.h"
#include "rack/client_class.h"

void rb_uw_init_client_channels(void);

/* Returns a channel's name for a String, a Symbol or another object. */
VALUE rb_uw_channel_name(VALUE channel);

/* `name` must remain referenced. Raises ArgumentError. */
struct uw_topic rb_uw_topic(VALUE name, VALUE match);
uint64_t rb_uw_subscription_number(void);
void rb_uw_push_client_keep_callable(struct rb_uw_push_client *client, uint64_t number, VALUE name, VALUE match,
                                     VALUE callable);
void rb_uw_push_client_tell_published(const struct rb_uw_push_client *client, const struct uw_request *request);

#endif
