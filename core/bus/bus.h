/* The bus carries published messages between the processes of one server. Every member sends each message to every
 * other member, over a UNIX socket in a private directory.
 *
 * A connection belongs to its sender. A new member connects to every peer socket it finds and sends its own name. A
 * member that gets a greeting from an unknown peer connects back. So each ordered pair of members has one connection.
 * Messages of one sender arrive in order and at most once. While both processes live, a message is dropped only when
 * too much waits for its receiver. Drops are counted.
 *
 * A member sends to the peers present when its uw_bus_open returns, and to later peers an iteration after theirs has
 * returned. It receives what peers publish after its greeting has reached them. A member has joined once all peers that
 * it found have answered.
 *
 * Messages to a member whose loop is blocked wait, up to UW_BUS_PEER_BYTES_MAX for each sender. A sender retries a
 * connection that has ended. A peer that refuses is dead, and the sender removes its socket file.
 *
 * Everything here belongs to the loop's thread. */
#ifndef UW_BUS_BUS_H
#define UW_BUS_BUS_H

#include "bus/bus_receiver.h"
#include "bus/bus_sender.h"

#define UW_BUS_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* after descriptors or memory ran out */
#define UW_BUS_JOIN_NS (2 * UW_NS_PER_SECOND)          /* for answers: a peer may be blocked, or about to exit */

/* Called in an iteration of the loop. The bytes are valid only during the call. The callback may publish. */
struct uw_bus_callbacks {
    void (*received)(void *context, const char *channel, size_t channel_length, const char *message,
                     size_t message_length, bool text);
    void (*joined)(void *context); /* unless the bus had joined when it was opened; or NULL */

    /* Reports with an -errno that messages to or from peers may be missing. May be NULL. */
    void (*troubled)(void *context, int error);
    void *context;
};

struct uw_bus {
    struct uw_bus_senders senders;
    struct uw_bus_receivers receivers;
    struct uw_bus_callbacks callbacks;
    struct uw_operation accept;
    struct uw_timer accept_retry;
    bool joined;
    _Atomic uint64_t received;
};

/* Any thread may read them. */
struct uw_bus_stats {
    size_t peers;           /* to which is sent */
    size_t hears;           /* other members that have sent a greeting */
    uint64_t sent, dropped; /* messages, once for each peer */
    uint64_t received;
};

/* Joins the bus of the directory `folder`, which exists, belongs to this user and has mode 0700. Returns 0, an -errno,
 * or an error of uw_bus_directory_open or uw_bus_directory_look. Call uw_bus_close after an error, too. The bus must
 * not move. */
int uw_bus_open(struct uw_bus *bus, struct uw_loop *loop, const char *folder, struct uw_bus_callbacks callbacks);

/* Sends the message to every peer. Returns the number of peers; -EMSGSIZE when the channel is longer than
 * UW_BUS_CHANNEL_BYTES_MAX or the message than UW_BUS_MESSAGE_BYTES_MAX; or -ENOMEM. */
int uw_bus_publish(struct uw_bus *bus, const char *channel, size_t channel_length, const char *message,
                   size_t message_length, bool text);

struct uw_bus_stats uw_bus_stats(const struct uw_bus *bus);

/* Leaves the bus after the loop has been closed. A bus that was never opened must be zero. Messages that are already in
 * the kernel still arrive. */
void uw_bus_close(struct uw_bus *bus);

/* Frees a child process's copy of the bus. The parent's bus is not affected. */
void uw_bus_abandon(struct uw_bus *bus);

#endif
