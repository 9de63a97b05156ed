/* A connection over which another member of a bus sends to this one. */
#ifndef UW_BUS_BUS_RECEIVER_H
#define UW_BUS_BUS_RECEIVER_H

#include <stdatomic.h>

#include "bus/bus_frame.h"
#include "io/loop.h"

#define UW_BUS_RECEIVERS_MAX 1024 /* for one member; further connections are closed */

/* The incoming connections of a member. */
struct uw_bus_receivers {
    struct uw_loop *loop;
    struct uw_list speakers;
    size_t count;                                                       /* of open connections */
    _Atomic size_t greeted;                                             /* peers that have sent a greeting */
    int (*hello)(struct uw_bus_receivers *receivers, const char *name); /* after an error the peer must greet again */
    void (*message)(struct uw_bus_receivers *receivers, const struct uw_bus_frame *frame);
};

struct uw_bus_receiver {
    struct uw_list link; /* in receivers->speakers */
    struct uw_bus_receivers *receivers;
    struct uw_operation receive;
    bool greeted, ended;
    char *partial; /* the bytes of an incomplete frame */
    size_t partial_length, capacity, wanted;
};

/* Receives from `fd`. Closes it and returns -EUSERS when too many connections are open, or -ENOMEM. A peer that
 * violates the protocol is disconnected. */
int uw_bus_receiver_open(struct uw_bus_receivers *receivers, int fd);

/* Frees the receiver after the loop has been closed. The peer sees the end of the connection. */
void uw_bus_receiver_discard(struct uw_bus_receiver *receiver);

#endif
