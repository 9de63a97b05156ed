/* The delivery of a response: chunks go from the writer to the reactor, in any mode, and a producer waits for a slow
 * client. */
#ifndef RB_UPWELL_DELIVERY_H
#define RB_UPWELL_DELIVERY_H

#include <ruby.h>

#include "rack/rack_context.h"
#include "server/spooled_body.h"

struct rb_uw_wait;

struct rb_uw_delivery {
    struct rb_uw_rack_context *rack_context;
    struct uw_request *core; /* NULL once it has been finished */
    struct uw_chunk *chunk;  /* being filled */
    unsigned head_flags;     /* of the chunk that begins the response */
    bool head_sent;
    bool hijacked;                /* the connection is the application's */
    bool client_gone;             /* its client was gone when the request was finished */
    VALUE lock;                   /* see delivery_lock.h; nil until its first use */
    struct rb_uw_wait *drain;     /* fibers: of the fiber while it waits for the client */
    struct uw_spooled_body spill; /* inline: output that waits for the client */
    int64_t waited_ns;            /* inline: for the client */
    bool behind;                  /* inline: the client is slow; further output is buffered */
    bool broken;                  /* inline: output could not be buffered */
};

/* Whether the client has disconnected, and the request is not finished yet. */
static inline bool rb_uw_client_left(const struct rb_uw_delivery *delivery)
{
    return delivery->core && atomic_load(&delivery->core->client_gone);
}

/* Hands a chunk over, on any thread; takes the request away from the delivery when it is flagged UW_CHUNK_FINISH. */
void rb_uw_hand_over(struct rb_uw_delivery *delivery, struct uw_chunk *chunk);

/* Hands outgoing data to the kernel, as far as it accepts the data at once. On other threads than the loop's the data
 * is already on its way. */
void rb_uw_push(struct rb_uw_delivery *delivery);

/* Waits, without blocking other requests, until little is outgoing; in mode inline only briefly. Raises Errno::EPIPE
 * when the client is gone. */
void rb_uw_await_drain(struct rb_uw_delivery *delivery);

/* Frees the chunk that is being filled. */
void rb_uw_drop_chunk(struct rb_uw_delivery *delivery);

#endif
