/* The connection over which a member of a bus sends to one other; nothing comes back on it but its end. What the other
 * does not receive at once waits, up to UW_BUS_PEER_BYTES_MAX. */
#ifndef UW_PUSH_BUS_LINK_H
#define UW_PUSH_BUS_LINK_H

#include <stdatomic.h>

#include "io/loop.h"
#include "push/bus_frame.h"
#include "push/bus_place.h"

#define UW_BUS_PEER_BYTES_MAX (2 * UW_BUS_FRAME_BYTES_MAX) /* with what each frame costs beside its bytes */
#define UW_BUS_PAUSE_MAX_NS (3 * UW_NS_PER_SECOND)
#define UW_BUS_PAUSE_NS (UW_NS_PER_SECOND / 20) /* before it is connected again; twice as long each time */

struct uw_bus_parcel;

/* Of a parcel that waits. */
struct uw_bus_waiting {
    struct uw_bus_waiting *next;
    struct uw_bus_parcel *parcel;
};

/* A frame on its way to several members: counted, and with a place in the queue of each. */
struct uw_bus_parcel {
    unsigned holds;
    size_t length;
    char *bytes;
    struct uw_bus_waiting places[];
};

/* What all links have in common. */
struct uw_bus_sender {
    struct uw_loop *loop;
    struct uw_bus_place place;
    struct uw_list links;
    _Atomic size_t up;              /* of the links */
    _Atomic uint64_t sent, dropped; /* messages; once for each link */
};

struct uw_bus_link {
    struct uw_list link; /* in sender->links */
    struct uw_bus_sender *sender;
    int fd; /* -1: is to be connected again */
    bool ended;
    bool answered;               /* it sends to this member, too */
    struct uw_operation receive; /* the end */
    struct uw_operation writable;
    struct uw_timer retry;
    int64_t pause_ns;
    struct uw_bus_waiting *first, **last;
    size_t waiting_bytes, first_sent;
    char name[UW_BUS_NAME_BYTES_MAX + 1];
};

/* Held by the caller; NULL when memory is exhausted, or the frame is too long. */
struct uw_bus_parcel *uw_bus_parcel_new(const struct uw_bus_frame *frame, size_t places);
void uw_bus_parcel_release(struct uw_bus_parcel *parcel);

/* Connects to the member of that name, and greets it, unless that has been done: from then on it gets what is sent. One
 * that is not there any more is forgotten. Returns 0 or -ENOMEM. */
int uw_bus_link_make(struct uw_bus_sender *sender, const char *name);

static inline bool uw_bus_link_is_up(const struct uw_bus_link *link)
{
    return link->fd >= 0 && !link->ended;
}

/* The member of that name sends to this one. */
void uw_bus_link_note_answer(const struct uw_bus_sender *sender, const char *name);

/* Sends the parcel, or has it wait in that place of its own. Returns false when it was dropped. The link is not freed
 * within this. */
bool uw_bus_link_send(struct uw_bus_link *link, struct uw_bus_parcel *parcel, struct uw_bus_waiting *place);

/* Frees it; the loop has been closed. The socket is left to the other. */
void uw_bus_link_discard(struct uw_bus_link *link);

#endif
