/* Upwell::Client for the files of this directory: a long-lived client. */
#ifndef RB_UPWELL_CLIENT_CLASS_H
#define RB_UPWELL_CLIENT_CLASS_H

#include "push/push_client.h"
#include "rack/rack_request.h"

struct rb_uw_push_client {
    struct uw_list link;                     /* in rack_context->clients until its last event has been served */
    struct rb_uw_rack_context *rack_context; /* part of `reactor` */
    struct uw_push_client *core;             /* with a reference; its `user` is this, while it is in that list */
    VALUE self;                              /* which does not move as long */
    VALUE reactor, env, handler;
    VALUE callables; /* a Hash of callables for published messages, by subscription number; or nil */
    VALUE changes;   /* of the handler, not notified yet: an Array of handlers and callbacks in turn; or nil */
    bool served;     /* an event of it is being served */
    bool ended;      /* the last event is being served, or has been */
};

void rb_uw_init_client_class(void);
struct rb_uw_push_client *rb_uw_push_client(VALUE self);

/* The client of a request, without a connection yet. */
VALUE rb_uw_push_client_new(const struct rb_uw_rack_request *request, VALUE handler);

/* Creates a process subscriber, see pub_sub/process_subscriber.h. The application does not see it. */
VALUE rb_uw_process_subscriber_new(struct rb_uw_rack_context *rack_context);

/* Whether the application may still write to the client. False in the child of a fork, whose parent has the connection.
 */
bool rb_uw_push_client_is_open(const struct rb_uw_push_client *client);

/* Makes a chunk of `data`, in one of `slab` if it fits; NULL when memory is exhausted. `slab` is NULL on other threads
 * than the loop's. */
typedef struct uw_chunk *rb_uw_push_client_frame(const struct rb_uw_push_client *client, struct uw_slab *slab,
                                                 const void *data);

/* Sends the chunk that `frame` makes, on any thread. Returns whether the client accepts the chunk; a client with too
 * much outgoing is closed. Raises NoMemoryError. */
bool rb_uw_push_client_send(struct rb_uw_push_client *client, rb_uw_push_client_frame *frame, const void *data);

/* `data` as UTF-8. Raises ArgumentError for a text that is not valid in its encoding. */
VALUE rb_uw_text_of(VALUE data);

#endif
