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
#define UW_TIMERS_LEVELS 5 /* 2^(16 + 8 * 5) ns: two years; later deadlines wait in the last level at first */

struct uw_loop;

struct uw_timer {
    struct uw_list link;
    void (*expire)(struct uw_loop *loop, struct uw_timer *timer); /* NULL: the loop calls its common handler */
    int64_t deadline_ns;
    uint8_t level, slot;
    bool active;
    bool check_only; /* the owner sets this: the expiry only checks, or the deadline has been moved to later */
};

struct uw_timers {
    uint64_t tick; /* every slot before this tick has been emptied */
    uint64_t count;
    uint64_t occupied[UW_TIMERS_LEVELS][UW_TIMERS_SLOT_WORDS]; /* a bit for each slot */
    struct uw_list slots[UW_TIMERS_LEVELS][UW_TIMERS_SLOTS];
};

void uw_timers_init(struct uw_timers *timers, int64_t now_ns);

/* `timer` must be zeroed before its first use. Starting an active timer moves it to the new deadline. */
void uw_timers_start(struct uw_timers *timers, struct uw_timer *timer, int64_t deadline_ns);

/* Does nothing to a timer that is not active. */
void uw_timers_stop(struct uw_timers *timers, struct uw_timer *timer);

/* Appends every timer whose deadline, rounded up to its tick, is at or before `now_ns` to the list `expired`, earliest
 * tick first. These timers remain active until uw_timers_take. A timer that is stopped or started again meanwhile is
 * removed from the list. It waits for the next call, however early its deadline. */
void uw_timers_expire(struct uw_timers *timers, int64_t now_ns, struct uw_list *expired);

/* Returns the first timer of the list `expired`, now inactive, or NULL when the list is empty. */
struct uw_timer *uw_timers_take(struct uw_timers *timers, struct uw_list *expired);

/* Returns when to call uw_timers_expire, or INT64_MAX without a timer. The time is never later than the earliest
 * deadline rounded up to its tick, except for a deadline in the past. It is earlier only if a far timer has to be
 * placed again. */
int64_t uw_timers_next_ns(const struct uw_timers *timers);

#endif
