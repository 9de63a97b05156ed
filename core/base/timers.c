#include "base/timers.h"

#define SLOT_MASK (UW_TIMERS_SLOTS - 1)
#define TICKS_MAX ((UINT64_C(1) << (UW_TIMERS_SLOT_BITS * UW_TIMERS_LEVELS)) - 1)

/* Level 0 has a slot a tick; a slot of level n spans a whole turn of level n - 1. A timer waits at the level of the
 * highest digit in which its tick differs from the present one, so every slot of a level is reached before it could be
 * needed again. */

/* Rounded up: a timer never fires early. */
static uint64_t tick_after(int64_t ns)
{
    return ns <= 0 ? 0 : ((uint64_t)ns + (1u << UW_TIMERS_TICK_BITS) - 1) >> UW_TIMERS_TICK_BITS;
}

void uw_timers_init(struct uw_timers *timers, int64_t now_ns)
{
    timers->tick = (uint64_t)now_ns >> UW_TIMERS_TICK_BITS;
    timers->count = 0;
    for (int level = 0; level < UW_TIMERS_LEVELS; level++) {
        timers->occupied[level] = 0;
        for (int slot = 0; slot < UW_TIMERS_SLOTS; slot++)
            uw_list_init(&timers->slots[level][slot]);
    }
}

static int level_of(uint64_t now, uint64_t tick)
{
    uint64_t difference = now ^ tick;

    return difference ? (63 - __builtin_clzll(difference)) / UW_TIMERS_SLOT_BITS : 0;
}

static void place(struct uw_timers *timers, struct uw_timer *timer)
{
    uint64_t tick = tick_after(timer->deadline_ns);

    if (tick < timers->tick)
        tick = timers->tick; /* already due: with the next expiry */
    if (tick - timers->tick > TICKS_MAX / 2)
        tick = timers->tick + TICKS_MAX / 2; /* placed again when that time has come */
    timer->level = (uint8_t)level_of(timers->tick, tick);
    if (timer->level >= UW_TIMERS_LEVELS)
        timer->level = UW_TIMERS_LEVELS - 1;
    timer->slot = (tick >> (timer->level * UW_TIMERS_SLOT_BITS)) & SLOT_MASK;
    uw_list_append(&timers->slots[timer->level][timer->slot], &timer->link);
    timers->occupied[timer->level] |= UINT64_C(1) << timer->slot;
}

void uw_timers_start(struct uw_timers *timers, struct uw_timer *timer, int64_t deadline_ns)
{
    uw_timers_stop(timers, timer);
    timer->deadline_ns = deadline_ns;
    timer->active = true;
    timers->count++;
    place(timers, timer);
}

void uw_timers_stop(struct uw_timers *timers, struct uw_timer *timer)
{
    struct uw_list *slot = &timers->slots[timer->level][timer->slot];

    if (!timer->active) {
        if (timer->link.next) /* perhaps in a list of expired ones */
            uw_list_remove(&timer->link);
        return;
    }
    timer->active = false;
    timers->count--;
    uw_list_remove(&timer->link);
    if (uw_list_empty(slot))
        timers->occupied[timer->level] &= ~(UINT64_C(1) << timer->slot);
}

static void empty_slot(struct uw_timers *timers, int level, int slot, struct uw_list *into)
{
    uw_list_move(into, &timers->slots[level][slot]);
    timers->occupied[level] &= ~(UINT64_C(1) << slot);
}

/* The first tick, from the present one on, at which a slot has to be emptied: of level 0 for its own timers, of a
 * higher level at its beginning, which for the present slot lies behind. */
static uint64_t next_tick(const struct uw_timers *timers)
{
    for (int level = 0; level < UW_TIMERS_LEVELS; level++) {
        int shift = level * UW_TIMERS_SLOT_BITS;
        uint64_t digit = timers->tick >> shift, here = digit & SLOT_MASK;
        uint64_t ahead = timers->occupied[level] & ~(((level ? UINT64_C(2) : UINT64_C(1)) << here) - 1);
        uint64_t behind = timers->occupied[level] & ~ahead;

        if (ahead)
            return (digit - here + (uint64_t)__builtin_ctzll(ahead)) << shift;
        if (behind && level == UW_TIMERS_LEVELS - 1) /* only the last level goes round */
            return (digit - here + UW_TIMERS_SLOTS + (uint64_t)__builtin_ctzll(behind)) << shift;
    }
    return UINT64_MAX;
}

/* Moves on to `tick`: what waited for it goes to the levels below, and in the end to `due`. */
static void advance(struct uw_timers *timers, uint64_t tick, struct uw_list *due)
{
    struct uw_list moved;

    uw_list_init(&moved);
    timers->tick = tick;
    for (int level = UW_TIMERS_LEVELS - 1; level >= 0; level--) {
        int shift = level * UW_TIMERS_SLOT_BITS, slot = (int)((tick >> shift) & SLOT_MASK);

        if ((tick & ((UINT64_C(1) << shift) - 1)) == 0 && timers->occupied[level] & UINT64_C(1) << slot)
            empty_slot(timers, level, slot, &moved);
    }
    while (!uw_list_empty(&moved)) {
        struct uw_timer *timer = uw_owner(moved.next, struct uw_timer, link);

        uw_list_remove(&timer->link);
        if (tick_after(timer->deadline_ns) <= tick)
            uw_list_append(due, &timer->link);
        else
            place(timers, timer);
    }
}

void uw_timers_expire(struct uw_timers *timers, int64_t now_ns, struct uw_list *expired)
{
    uint64_t now = (uint64_t)now_ns >> UW_TIMERS_TICK_BITS, next;
    struct uw_list due;

    uw_list_init(&due);
    while ((next = next_tick(timers)) <= now)
        advance(timers, next, &due);
    if (now > timers->tick)
        timers->tick = now;
    for (struct uw_list *node = due.next; node != &due; node = node->next) {
        uw_owner(node, struct uw_timer, link)->active = false;
        timers->count--;
    }
    uw_list_move(expired, &due);
}

int64_t uw_timers_next_ns(const struct uw_timers *timers)
{
    uint64_t tick = next_tick(timers);

    return tick > (uint64_t)INT64_MAX >> UW_TIMERS_TICK_BITS ? INT64_MAX : (int64_t)(tick << UW_TIMERS_TICK_BITS);
}
