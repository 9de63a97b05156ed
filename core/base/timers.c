#include "base/timers.h"

#define SLOT_MASK (UW_TIMERS_SLOTS - 1)
#define TICKS_MAX ((UINT64_C(1) << (UW_TIMERS_SLOT_BITS * UW_TIMERS_LEVELS)) - 1)

/* Level 0 has a slot for each tick. A slot of level n spans one rotation of level n - 1. The tick of a timer and the
 * current tick differ in some digits. The timer waits at the level of the highest such digit. So every slot is emptied
 * before its next use. */

/* Rounds up: a timer never fires early. */
static uint64_t tick_after(int64_t ns)
{
    return ns <= 0 ? 0 : ((uint64_t)ns + (1u << UW_TIMERS_TICK_BITS) - 1) >> UW_TIMERS_TICK_BITS;
}

void uw_timers_init(struct uw_timers *timers, int64_t now_ns)
{
    timers->tick = (uint64_t)now_ns >> UW_TIMERS_TICK_BITS;
    timers->count = 0;
    for (int level = 0; level < UW_TIMERS_LEVELS; level++) {
        for (int word = 0; word < UW_TIMERS_SLOT_WORDS; word++)
            timers->occupied[level][word] = 0;
        for (int slot = 0; slot < UW_TIMERS_SLOTS; slot++)
            uw_list_init(&timers->slots[level][slot]);
    }
}

static void mark_occupied(struct uw_timers *timers, int level, int slot)
{
    timers->occupied[level][slot / 64] |= UINT64_C(1) << slot % 64;
}

static void mark_vacant(struct uw_timers *timers, int level, int slot)
{
    timers->occupied[level][slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* Returns the first slot of the level, at or after `slot`, with a timer. Returns UW_TIMERS_SLOTS without such a slot.
 */
static int first_occupied(const struct uw_timers *timers, int level, int slot)
{
    uint64_t past_bits = (UINT64_C(1) << slot % 64) - 1;

    for (int word = slot / 64; word < UW_TIMERS_SLOT_WORDS; word++, past_bits = 0) {
        uint64_t next_bits = timers->occupied[level][word] & ~past_bits;

        if (next_bits)
            return word * 64 + __builtin_ctzll(next_bits);
    }
    return UW_TIMERS_SLOTS;
}

static int level_of(uint64_t now, uint64_t tick)
{
    uint64_t difference = now ^ tick;

    return difference ? (63 - __builtin_clzll(difference)) / UW_TIMERS_SLOT_BITS : 0;
}

static void place_timer(struct uw_timers *timers, struct uw_timer *timer)
{
    uint64_t tick = tick_after(timer->deadline_ns);

    if (tick < timers->tick)
        tick = timers->tick; /* the timer is due, and the next uw_timers_expire takes it */
    if (tick - timers->tick > TICKS_MAX / 2)
        tick = timers->tick + TICKS_MAX / 2; /* the timer is placed again at that tick */
    timer->level = (uint8_t)level_of(timers->tick, tick);
    if (timer->level >= UW_TIMERS_LEVELS)
        timer->level = UW_TIMERS_LEVELS - 1;
    timer->slot = (tick >> (timer->level * UW_TIMERS_SLOT_BITS)) & SLOT_MASK;
    uw_list_append(&timers->slots[timer->level][timer->slot], &timer->link);
    mark_occupied(timers, timer->level, timer->slot);
}

void uw_timers_start(struct uw_timers *timers, struct uw_timer *timer, int64_t deadline_ns)
{
    uw_timers_stop(timers, timer);
    timer->deadline_ns = deadline_ns;
    timer->active = true;
    timers->count++;
    place_timer(timers, timer);
}

static void deactivate(struct uw_timers *timers, struct uw_timer *timer)
{
    timer->active = false;
    timers->count--;
    uw_list_remove(&timer->link);
}

/* An expired timer before uw_timers_take is in no slot. So the bit of its former slot is set only for other timers. */
void uw_timers_stop(struct uw_timers *timers, struct uw_timer *timer)
{
    if (!timer->active)
        return;
    deactivate(timers, timer);
    if (uw_list_empty(&timers->slots[timer->level][timer->slot]))
        mark_vacant(timers, timer->level, timer->slot);
}

static void empty_slot(struct uw_timers *timers, int level, int slot, struct uw_list *into)
{
    uw_list_move(into, &timers->slots[level][slot]);
    mark_vacant(timers, level, slot);
}

/* Returns the first tick, at or after the current tick, at which a slot must be emptied. A slot of level 0 is emptied
 * for its own timers. A slot of a higher level is emptied at its first tick, which is past for the current slot. */
static uint64_t next_tick(const struct uw_timers *timers)
{
    for (int level = 0; level < UW_TIMERS_LEVELS; level++) {
        int shift = level * UW_TIMERS_SLOT_BITS;
        uint64_t digit = timers->tick >> shift, turn = digit & ~(uint64_t)SLOT_MASK;
        int current = (int)(digit & SLOT_MASK), slot = first_occupied(timers, level, level ? current + 1 : current);

        if (slot < UW_TIMERS_SLOTS)
            return (turn + (uint64_t)slot) << shift;
        if (level < UW_TIMERS_LEVELS - 1) /* only the last level wraps around */
            continue;
        slot = first_occupied(timers, level, 0);
        if (slot < UW_TIMERS_SLOTS)
            return (turn + UW_TIMERS_SLOTS + (uint64_t)slot) << shift;
    }
    return UINT64_MAX;
}

/* Advances to `tick`: timers of the higher levels move down, and due timers move to `due`. A slot of level 0 moves as a
 * whole, because a look at each timer would cost a cache miss. */
static void advance(struct uw_timers *timers, uint64_t tick, struct uw_list *due)
{
    struct uw_list cascaded;

    uw_list_init(&cascaded);
    timers->tick = tick;
    for (int level = UW_TIMERS_LEVELS - 1; level > 0; level--) {
        int shift = level * UW_TIMERS_SLOT_BITS;

        if ((tick & ((UINT64_C(1) << shift) - 1)) == 0)
            empty_slot(timers, level, (int)(tick >> shift & SLOT_MASK), &cascaded);
    }
    while (!uw_list_empty(&cascaded)) {
        struct uw_timer *timer = uw_container_of(cascaded.next, struct uw_timer, link);

        uw_list_remove(&timer->link);
        if (tick_after(timer->deadline_ns) <= tick)
            uw_list_append(due, &timer->link);
        else
            place_timer(timers, timer);
    }
    empty_slot(timers, 0, (int)(tick & SLOT_MASK), due);
}

void uw_timers_expire(struct uw_timers *timers, int64_t now_ns, struct uw_list *expired)
{
    uint64_t now = (uint64_t)now_ns >> UW_TIMERS_TICK_BITS, next;

    while ((next = next_tick(timers)) <= now)
        advance(timers, next, expired);
    if (now > timers->tick)
        timers->tick = now;
}

struct uw_timer *uw_timers_take(struct uw_timers *timers, struct uw_list *expired)
{
    struct uw_timer *timer = uw_container_of(expired->next, struct uw_timer, link);

    if (uw_list_empty(expired))
        return NULL;
    deactivate(timers, timer);
    return timer;
}

int64_t uw_timers_next_ns(const struct uw_timers *timers)
{
    uint64_t tick = next_tick(timers);

    return tick > (uint64_t)INT64_MAX >> UW_TIMERS_TICK_BITS ? INT64_MAX : (int64_t)(tick << UW_TIMERS_TICK_BITS);
}
