/* A connection on which a peer sends to this member of a bus. */
#ifndef UW_BUS_BUS_RECEIVER_H
#define UW_BUS_BUS_RECEIVER_H

#include <stdatomic.h>

#include "bus/bus_frame.h"
#include "io/loop.h"

#define UW_BUS_RECEIVERS_MAX 1024 /* incoming connections of one member. Further connections are closed */

/* All incoming connections of a member */
struct uw_bus_receivers {
    struct uw_loop *loop;
    struct uw_list connections;
    size_t count;           /* number of open connections */
    _Atomic size_t greeted; /* number of peers that have sent a greeting */
    /* Called for a greeting. An error ends the connection. */
    int (*hello)(struct uw_bus_receivers *receivers, const char *name);
    void (*message)(struct uw_bus_receivers *receivers, const struct uw_bus_frame *frame);
};

struct uw_bus_receiver {
    struct uw_list link; /* in receivers->connections */
    struct uw_bus_receivers *receivers;
    struct uw_operation receive;
    bool greeted, ended;
    char *partial; /* bytes of an incomplete frame, or NULL */
    size_t partial_length, capacity, wanted;
};

/* Receives from `fd`. Takes ownership of `fd`, even on errors. Returns 0, -EUSERS if too many connections are open, or
 * -ENOMEM. A peer that violates the protocol is disconnected. */
int uw_bus_receiver_open(struct uw_bus_receivers *receivers, int fd);

/* Closes the descriptor and frees the receiver. The loop must be closed before. */
void uw_bus_receiver_discard(struct uw_bus_receiver *receiver);

#endif
