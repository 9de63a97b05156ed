/* Upwell::Client, as the files of this wing see it: a client that stays after its request. */
#ifndef RB_UPWELL_CLIENT_CLASS_H
#define RB_UPWELL_CLIENT_CLASS_H

#include "push/channels.h"
#include "push/client.h"
#include "rack/rack.h"

struct rb_uw_client {
    struct uw_list link;     /* in host->clients until its last event has been served */
    struct rb_uw_host *host; /* part of `reactor` */
    struct uw_client *core;  /* held; its `user` is this, which stays as long as it is in that list */
    VALUE self;              /* which does not move as long */
    VALUE reactor, env, handler;
    VALUE callables; /* a Hash of those that are called with what is published, by number; or nil */
};

void rb_uw_init_client_class(void);
struct rb_uw_client *rb_uw_client(VALUE self);

/* The client of a request, without a connection yet. */
VALUE rb_uw_client_new(struct rb_uw_exchange *exchange, VALUE handler);

/* A subscriber of the process, see push/ear.h: one that the application does not see. */
VALUE rb_uw_ear_new(struct rb_uw_host *host);

/* Whether something may still be written to it; not in the child of a fork, whose parent has the connection. */
bool rb_uw_client_is_open(const struct rb_uw_client *client);

/* Makes what is to be sent of `data`: in a chunk of `slab` where it fits, or NULL when memory is exhausted. `slab` is
 * NULL on other threads than the loop's. */
typedef struct uw_chunk *rb_uw_client_frame(const struct rb_uw_client *client, struct uw_slab *slab, const void *data);

/* Sends what `frame` makes, on any thread. Returns whether the client takes it: one with too much outgoing is ended.
 * Raises NoMemoryError. */
bool rb_uw_client_send(struct rb_uw_client *client, rb_uw_client_frame *frame, const void *data);

/* `data` as UTF-8. Raises ArgumentError for a text that is not valid in its encoding. */
VALUE rb_uw_text_of(VALUE data);

/* clients.c */

/* From now on it has events; and from then on none. */
void rb_uw_client_begin(struct rb_uw_client *client);
void rb_uw_client_end(struct rb_uw_client *client);

/* What the host keeps of those that stay, and what each of them does. */
void rb_uw_clients_mark(const struct rb_uw_host *host);
void rb_uw_client_mark_next(const struct rb_uw_client *client);

/* client_channels.c */
void rb_uw_init_client_channels(void);

/* A channel's name, of whatever stands for it. */
VALUE rb_uw_channel_name(VALUE channel);

/* `name` must stay. Raises ArgumentError. */
struct uw_topic rb_uw_topic(VALUE name, VALUE match);
uint64_t rb_uw_subscription_number(void);
void rb_uw_client_keep_callable(struct rb_uw_client *client, uint64_t number, VALUE name, VALUE callable);
void rb_uw_client_tell_published(const struct rb_uw_client *client, const struct uw_request *request);

#endif
