/* Upwell::Client, as the files of this wing see it: a client that stays after its request. */
#ifndef RB_UPWELL_CLIENT_CLASS_H
#define RB_UPWELL_CLIENT_CLASS_H

#include "push/client.h"
#include "rack/rack.h"

struct rb_uw_client {
    struct uw_list link;     /* in host->clients until its last event has been served */
    struct rb_uw_host *host; /* part of `reactor` */
    struct uw_client *core;  /* held; its `user` is this, which stays as long as it is in that list */
    VALUE self;              /* which does not move as long */
    VALUE reactor, env, handler;
};

void rb_uw_init_client_class(void);
struct rb_uw_client *rb_uw_client(VALUE self);

/* The client of a request, without a connection yet. */
VALUE rb_uw_client_new(struct rb_uw_exchange *exchange, VALUE handler);

/* From now on it has events; and from then on none. */
void rb_uw_client_begin(struct rb_uw_client *client);
void rb_uw_client_end(struct rb_uw_client *client);

/* Whether something may still be written to it; not in the child of a fork, whose parent has the connection. */
bool rb_uw_client_is_open(const struct rb_uw_client *client);

/* Makes what is to be sent of `data`: in a chunk of `slab` where it fits, or NULL when memory is exhausted. `slab` is
 * NULL on other threads than the loop's. */
typedef struct uw_chunk *rb_uw_client_frame(const struct rb_uw_client *client, struct uw_slab *slab, const void *data);

/* Sends what `frame` makes, on any thread. Returns whether the client takes it: one with too much outgoing is ended.
 * Raises NoMemoryError. */
bool rb_uw_client_send(struct rb_uw_client *client, rb_uw_client_frame *frame, const void *data);

#endif
