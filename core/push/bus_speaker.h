/* A connection over which another member of a bus sends to this one. */
#ifndef UW_PUSH_BUS_SPEAKER_H
#define UW_PUSH_BUS_SPEAKER_H

#include <stdatomic.h>

#include "io/loop.h"
#include "push/bus_frame.h"

#define UW_BUS_SPEAKERS_MAX 1024 /* of one member; more are not heard */

/* Who hears what all of them say. */
struct uw_bus_hearer {
    struct uw_loop *loop;
    struct uw_list speakers;
    size_t count;                                                 /* of them */
    _Atomic size_t greeted;                                       /* of those who have said their names */
    int (*hello)(struct uw_bus_hearer *hearer, const char *name); /* an error: it is to greet again */
    void (*message)(struct uw_bus_hearer *hearer, const struct uw_bus_frame *frame);
};

struct uw_bus_speaker {
    struct uw_list link; /* in hearer->speakers */
    struct uw_bus_hearer *hearer;
    struct uw_operation receive;
    bool greeted, ended;
    char *kept; /* of a frame that has not come to its end */
    size_t kept_length, capacity, wanted;
};

/* Receives from `fd`, which is closed when there are too many, or memory is exhausted. What breaks the rules is not
 * heard any longer. */
void uw_bus_speaker_open(struct uw_bus_hearer *hearer, int fd);

/* Frees it; the loop has been closed. The socket is left to the other. */
void uw_bus_speaker_discard(struct uw_bus_speaker *speaker);

#endif
