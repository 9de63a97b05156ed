/* A hierarchical timing wheel. Starting and stopping a timer is O(1) and allocates nothing. Deadlines are rounded up to
 * a tick, so no timer fires early. */
#ifndef UW_BASE_TIMERS_H
#define UW_BASE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#define UW_TIMERS_TICK_BITS 16 /* a tick is 2^16 ns: 65.5 microseconds */
#define UW_TIMERS_SLOT_BITS 8
#define UW_TIMERS_SLOTS (1 << UW_TIMERS_SLOT_BITS)
#define UW_TIMERS_SLOT_WORDS (UW_TIMERS_SLOTS / 64)
#define UW_TIMERS_LEVELS 5 /* 2^(16 + 8 * 5) ns are two years. Later deadlines wait in the last level first */

struct uw_loop;

struct uw_timer {
    struct uw_list link;
    void (*expire)(struct uw_loop *loop, struct uw_timer *timer); /* NULL: the loop calls its default handler */
    int64_t deadline_ns;
    uint8_t level, slot;
    bool active;
    bool check_only; /* set by the owner if the deadline has moved to later, or if the expiry only checks a state */
};

struct uw_timers {
    uint64_t tick; /* all slots before this tick are empty */
    uint64_t count;
    uint64_t occupied[UW_TIMERS_LEVELS][UW_TIMERS_SLOT_WORDS]; /* one bit for each slot */
    struct uw_list slots[UW_TIMERS_LEVELS][UW_TIMERS_SLOTS];
};

void uw_timers_init(struct uw_timers *timers, int64_t now_ns);

/* `timer` must be zeroed before its first use. An active timer moves to the new deadline. */
void uw_timers_start(struct uw_timers *timers, struct uw_timer *timer, int64_t deadline_ns);

/* Does nothing if the timer is not active. */
void uw_timers_stop(struct uw_timers *timers, struct uw_timer *timer);

/* Appends to `expired` every timer with a deadline, rounded up to its tick, at or before `now_ns`. The earliest tick
 * comes first. These timers remain active until uw_timers_take. A call of uw_timers_stop or uw_timers_start removes a
 * timer from the list. A restarted timer waits for the next uw_timers_expire, however early its deadline. */
void uw_timers_expire(struct uw_timers *timers, int64_t now_ns, struct uw_list *expired);

/* Removes the first timer from `expired` and returns it, now inactive. Returns NULL if the list is empty. */
struct uw_timer *uw_timers_take(struct uw_timers *timers, struct uw_list *expired);

/* Returns the time of the next call of uw_timers_expire, or INT64_MAX without a timer. The time is never later than the
 * earliest deadline rounded up to its tick, except for a deadline in the past. The time is earlier only if a far timer
 * has to be placed again. */
int64_t uw_timers_next_ns(const struct uw_timers *timers);

#endif
