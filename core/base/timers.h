/* A hierarchical timing wheel: starting and stopping a timer is O(1), whatever their number; a timer allocates nothing.
 * Deadlines are rounded up to a tick, so no timer ever fires early. */
#ifndef UW_BASE_TIMERS_H
#define UW_BASE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#define UW_TIMERS_TICK_BITS 16 /* a tick is 2^16 ns: 65.5 microseconds */
#define UW_TIMERS_SLOT_BITS 8
#define UW_TIMERS_SLOTS (1 << UW_TIMERS_SLOT_BITS)
#define UW_TIMERS_SLOT_WORDS (UW_TIMERS_SLOTS / 64)
#define UW_TIMERS_LEVELS 5 /* 2^(16 + 8 * 5) ns: two years; a later deadline waits in the last and is placed again */

struct uw_loop;

struct uw_timer {
    struct uw_list link;
    void (*expire)(struct uw_loop *loop, struct uw_timer *timer); /* NULL: what the loop does for every timer */
    int64_t deadline_ns;
    uint8_t level, slot;
    bool active;
    bool harmless; /* the owner's: it only looks, or its deadline has been put off: nobody is wronged when it expires */
};

struct uw_timers {
    uint64_t tick; /* every slot before it has been emptied */
    uint64_t count;
    uint64_t occupied[UW_TIMERS_LEVELS][UW_TIMERS_SLOT_WORDS]; /* a bit a slot */
    struct uw_list slots[UW_TIMERS_LEVELS][UW_TIMERS_SLOTS];
};

void uw_timers_init(struct uw_timers *timers, int64_t now_ns);

/* `timer` must be zeroed before its first use. Starting an active timer moves it to the new deadline. */
void uw_timers_start(struct uw_timers *timers, struct uw_timer *timer, int64_t deadline_ns);

/* Does nothing to a timer that is not active. */
void uw_timers_stop(struct uw_timers *timers, struct uw_timer *timer);

/* Appends every timer whose deadline, rounded up to its tick, is at or before `now_ns` to the list `expired`, earliest
 * tick first. They are active until they are taken from there; one that is stopped or started anew meanwhile leaves the
 * list, and waits for the next call, however early its deadline. */
void uw_timers_expire(struct uw_timers *timers, int64_t now_ns, struct uw_list *expired);

/* The first of the list `expired`, not active any more; NULL when it is empty. */
struct uw_timer *uw_timers_take(struct uw_timers *timers, struct uw_list *expired);

/* The time to call uw_timers_expire: never later than the earliest deadline rounded up to its tick, unless that lies in
 * the past; earlier only when a far timer has to be placed again; INT64_MAX when there is no timer. */
int64_t uw_timers_next_ns(const struct uw_timers *timers);

#endif
