/* A connection on which a member of a bus sends to one peer. The peer sends no data, only its end of file. Frames that
 * the socket cannot take wait in a queue of at most UW_BUS_PEER_BYTES_MAX bytes. */
#ifndef UW_BUS_BUS_SENDER_H
#define UW_BUS_BUS_SENDER_H

#include <stdatomic.h>

#include "bus/bus_directory.h"
#include "bus/bus_frame.h"
#include "io/loop.h"

#define UW_BUS_PEER_BYTES_MAX (2 * UW_BUS_FRAME_BYTES_MAX) /* includes the overhead of each queued frame */
#define UW_BUS_PAUSE_MAX_NS (3 * UW_NS_PER_SECOND)
#define UW_BUS_PAUSE_NS (UW_NS_PER_SECOND / 20) /* first delay before a reconnection. Delays double */

struct uw_bus_shared_frame;

/* Entry of a shared frame in the queue of one sender */
struct uw_bus_queue_entry {
    struct uw_bus_queue_entry *next;
    struct uw_bus_shared_frame *shared_frame;
};

/* A reference-counted frame for several members, with memory for one queue entry for each member. */
struct uw_bus_shared_frame {
    unsigned references;
    size_t length;
    char *bytes;
    struct uw_bus_queue_entry entries[];
};

/* State that all outgoing connections of a member share */
struct uw_bus_senders {
    struct uw_loop *loop;
    /* Reports an -errno: connecting failed, or a message was dropped. */
    void (*failed)(struct uw_bus_senders *senders, int error);
    struct uw_bus_directory directory;
    struct uw_list links;
    _Atomic size_t connected;       /* number of connected senders */
    _Atomic uint64_t sent, dropped; /* number of messages, counted once for each peer */
};

struct uw_bus_sender {
    struct uw_list link; /* in senders->links */
    struct uw_bus_senders *senders;
    int fd; /* -1: not connected */
    bool ended;
    bool answered;               /* the peer sends to this member, too */
    struct uw_operation receive; /* completes at the end of file */
    struct uw_operation writable;
    struct uw_timer retry;
    int64_t pause_ns;
    struct uw_bus_queue_entry *first, **last;
    size_t waiting_bytes, first_sent;
    char name[UW_BUS_NAME_BYTES_MAX + 1];
};

/* Returns a frame with one reference. Returns NULL without memory, or if the frame is too long. */
struct uw_bus_shared_frame *uw_bus_shared_frame_new(const struct uw_bus_frame *frame, size_t entries);
void uw_bus_shared_frame_release(struct uw_bus_shared_frame *shared_frame);

/* Creates a sender to the member `name`, unless one exists: connects and sends the greeting. The member gets all later
 * messages. The sender of an exited member is freed. Returns 0 or -ENOMEM. */
int uw_bus_sender_ensure(struct uw_bus_senders *senders, const char *name);

static inline bool uw_bus_sender_is_connected(const struct uw_bus_sender *sender)
{
    return sender->fd >= 0 && !sender->ended;
}

/* Records that the member `name` sends to this member. */
void uw_bus_sender_set_answered(const struct uw_bus_senders *senders, const char *name);

/* Sends the frame, or queues it in `entry`. Returns false if the frame was dropped. This call does not free the
 * sender. */
bool uw_bus_sender_send(struct uw_bus_sender *sender, struct uw_bus_shared_frame *shared_frame,
                        struct uw_bus_queue_entry *entry);

/* Closes the descriptor and frees the sender. The loop must be closed before. */
void uw_bus_sender_discard(struct uw_bus_sender *sender);

#endif
