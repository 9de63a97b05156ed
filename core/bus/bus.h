/* The bus carries published messages between the processes of one server. Every member sends each message to every
 * other member, over a UNIX socket in a private directory.
 *
 * A connection belongs to its sender. A new member connects to every peer socket in the directory and sends a greeting
 * with its own name. After a greeting from an unknown peer a member connects back. So each ordered pair of members has
 * one connection. Messages of one sender arrive in order and at most once. While both processes live, a message is
 * dropped only if too many bytes wait for the receiver, the connection is interrupted, or memory is missing. Drops are
 * counted.
 *
 * After uw_bus_open a member sends to all peers present. A later peer gets messages from the iteration after its own
 * uw_bus_open. A member receives the messages that a peer publishes after this peer has received the member's greeting.
 * A member has joined once all peers found by uw_bus_open have answered.
 *
 * Messages to a member with a blocked loop wait, up to UW_BUS_PEER_BYTES_MAX for each sender. A sender reconnects after
 * the end of a connection. ECONNREFUSED means that the peer has exited, and the sender removes its socket file.
 *
 * All functions and structures belong to the loop's thread, unless stated otherwise. */
#ifndef UW_BUS_BUS_H
#define UW_BUS_BUS_H

#include "bus/bus_receiver.h"
#include "bus/bus_sender.h"

#define UW_BUS_ACCEPT_RETRY_NS (UW_NS_PER_SECOND / 10) /* delay after a lack of descriptors or memory */
#define UW_BUS_JOIN_NS (2 * UW_NS_PER_SECOND)          /* time for answers: peers may be blocked or about to exit */

/* Called in an iteration of the loop. The bytes are valid only during the call. A callback may call uw_bus_publish. */
struct uw_bus_callbacks {
    void (*received)(void *context, const char *channel, size_t channel_length, const char *message,
                     size_t message_length, bool text);
    void (*joined)(void *context); /* not called if the bus has joined during uw_bus_open. May be NULL */

    /* Reports an -errno: messages to or from peers may be missing. May be NULL. */
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

/* Any thread may call uw_bus_stats. */
struct uw_bus_stats {
    size_t peers;           /* number of peers to which this member sends */
    size_t incoming_peers;  /* number of peers that have sent a greeting */
    uint64_t sent, dropped; /* number of messages, counted once for each peer */
    uint64_t received;
};

/* Joins the bus of the directory `folder`, which exists, belongs to this user and has mode 0700. Returns 0, -errno, or
 * an error of uw_bus_directory_open or uw_bus_directory_each_peer. After an error the caller must call uw_bus_close,
 * too. The bus must not move. */
int uw_bus_open(struct uw_bus *bus, struct uw_loop *loop, const char *folder, struct uw_bus_callbacks callbacks);

/* Sends the message to every peer. Returns the number of peers. Returns -EMSGSIZE for a channel of more than
 * UW_BUS_CHANNEL_BYTES_MAX bytes or a message of more than UW_BUS_MESSAGE_BYTES_MAX bytes. Returns -ENOMEM without
 * memory. */
int uw_bus_publish(struct uw_bus *bus, const char *channel, size_t channel_length, const char *message,
                   size_t message_length, bool text);

struct uw_bus_stats uw_bus_stats(const struct uw_bus *bus);

/* Leaves the bus. The loop must be closed before. A bus that was never opened must be zero. Messages that are already
 * in the kernel still arrive. */
void uw_bus_close(struct uw_bus *bus);

/* Frees a child process's copy of the bus. The parent's bus is not affected. */
void uw_bus_abandon(struct uw_bus *bus);

#endif
