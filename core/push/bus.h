/* The bus over which the processes of one server tell each other published messages: every member sends each message to
 * every other, over a UNIX socket in a folder that is theirs alone.
 *
 * A connection belongs to its sender. A member connects to all that it finds when it begins, and greets them by its
 * name; whoever is greeted by one that it does not send to connects back. So there is one connection from each to each:
 * what one publishes arrives in its order, no message twice, and, while both live, each, but for those that are dropped
 * as too much waits for the other, which are counted.
 *
 * From when on? A member knows another once it has connected to it: those that were there when its uw_bus_open returns,
 * later ones in a turn after theirs has. It is known itself to those who have greeted it: what they publish after that
 * arrives. Once all have that it found, it has joined.
 *
 * A member whose loop stands still is none who is gone: what it has not received waits, up to UW_BUS_PEER_BYTES_MAX for
 * each sender. Whose connection ends is tried again; who refuses is dead, and its socket's file is removed.
 *
 * All of it belongs to the loop's thread. */
#ifndef UW_PUSH_BUS_H
#define UW_PUSH_BUS_H

#include "push/bus_link.h"
#include "push/bus_speaker.h"

#define UW_BUS_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* after descriptors or memory ran out */
#define UW_BUS_JOIN_NS (2 * UW_NS_PER_SECOND) /* for the others to answer: one may stand still, or be about to die */

/* Called in a turn of the loop. The bytes are the callback's only while it runs; it may publish. */
struct uw_bus_callbacks {
    void (*received)(void *context, const char *channel, size_t channel_length, const char *message,
                     size_t message_length, bool text);
    void (*joined)(void *context); /* unless it had when it was opened; or NULL */
    void *context;
};

struct uw_bus {
    struct uw_bus_sender sender;
    struct uw_bus_hearer hearer;
    struct uw_bus_callbacks callbacks;
    struct uw_operation accept;
    struct uw_timer accept_retry;
    bool joined;
    _Atomic uint64_t received;
};

/* Any thread may ask. */
struct uw_bus_stats {
    size_t peers;           /* to which is sent */
    size_t hears;           /* others, who have greeted */
    uint64_t sent, dropped; /* messages, once for each peer */
    uint64_t received;
};

/* Joins the bus of `folder`, which exists, is this user's and has the mode 0700. Returns 0; or what uw_bus_place_open
 * and uw_bus_place_look do, or -errno: then, too, it is to be closed. It must not move. */
int uw_bus_open(struct uw_bus *bus, struct uw_loop *loop, const char *folder, struct uw_bus_callbacks callbacks);

/* Sends the message to every peer, if there are any. Returns to how many; -EMSGSIZE when the channel is longer than
 * UW_BUS_CHANNEL_BYTES_MAX or the message than UW_BUS_MESSAGE_BYTES_MAX; or -ENOMEM. */
int uw_bus_publish(struct uw_bus *bus, const char *channel, size_t channel_length, const char *message,
                   size_t message_length, bool text);

struct uw_bus_stats uw_bus_stats(const struct uw_bus *bus);

/* Leaves it. The loop has been closed; a bus that was never opened must be zero. What the kernel has taken arrives. */
void uw_bus_close(struct uw_bus *bus);

/* Likewise for the copy that a child process has of its parent's, who is not affected. */
void uw_bus_abandon(struct uw_bus *bus);

#endif
