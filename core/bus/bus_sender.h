/* A connection over which a member of a bus sends to one peer. The peer sends nothing back; only its end of file
 * arrives. Data that the socket cannot take waits, up to UW_BUS_PEER_BYTES_MAX. */
#ifndef UW_BUS_BUS_SENDER_H
#define UW_BUS_BUS_SENDER_H

#include <stdatomic.h>

#include "bus/bus_directory.h"
#include "bus/bus_frame.h"
#include "io/loop.h"

#define UW_BUS_PEER_BYTES_MAX (2 * UW_BUS_FRAME_BYTES_MAX) /* the overhead of each frame included */
#define UW_BUS_PAUSE_MAX_NS (3 * UW_NS_PER_SECOND)
#define UW_BUS_PAUSE_NS (UW_NS_PER_SECOND / 20) /* before it is connected again; twice as long each time */

struct uw_bus_parcel;

/* A parcel's entry in one queue. */
struct uw_bus_waiting {
    struct uw_bus_waiting *next;
    struct uw_bus_parcel *parcel;
};

/* A frame for several members, reference-counted, with an entry in the queue of each. */
struct uw_bus_parcel {
    unsigned references;
    size_t length;
    char *bytes;
    struct uw_bus_waiting places[];
};

/* State that all outgoing connections of a member share. */
struct uw_bus_senders {
    struct uw_loop *loop;
    void (*failed)(struct uw_bus_senders *senders, int error); /* cannot connect, or drops messages: -errno */
    struct uw_bus_directory directory;
    struct uw_list links;
    _Atomic size_t up;              /* connected ones */
    _Atomic uint64_t sent, dropped; /* messages; once for each peer */
};

struct uw_bus_sender {
    struct uw_list link; /* in senders->links */
    struct uw_bus_senders *senders;
    int fd; /* -1: not connected */
    bool ended;
    bool answered;               /* the peer sends to this member, too */
    struct uw_operation receive; /* for the end of file */
    struct uw_operation writable;
    struct uw_timer retry;
    int64_t pause_ns;
    struct uw_bus_waiting *first, **last;
    size_t waiting_bytes, first_sent;
    char name[UW_BUS_NAME_BYTES_MAX + 1];
};

/* Returns one reference; NULL when memory is exhausted, or the frame is too long. */
struct uw_bus_parcel *uw_bus_parcel_new(const struct uw_bus_frame *frame, size_t places);
void uw_bus_parcel_release(struct uw_bus_parcel *parcel);

/* Connects to the member `name` and sends the greeting, unless a sender for it exists. The member gets messages from
 * then on. The sender of a member that no longer exists is freed. Returns 0 or -ENOMEM. */
int uw_bus_sender_make(struct uw_bus_senders *senders, const char *name);

static inline bool uw_bus_sender_is_up(const struct uw_bus_sender *sender)
{
    return sender->fd >= 0 && !sender->ended;
}

/* The member of that name sends to this one. */
void uw_bus_sender_note_answer(const struct uw_bus_senders *senders, const char *name);

/* Sends the parcel, or queues it in `place`. Returns false when the parcel was dropped. This call does not free the
 * sender. */
bool uw_bus_sender_send(struct uw_bus_sender *sender, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place);

/* Frees the sender after the loop has been closed. The peer sees the end of the connection. */
void uw_bus_sender_discard(struct uw_bus_sender *sender);

#endif
