#include "base/timers.h"

#include "check.h"
#include "processor_time.h"

#define TICK (INT64_C(1) << UW_TIMERS_TICK_BITS)
#define MANY 100000
#define FEW 300
#define DISTANCE_BITS_MAX 58 /* up to nine years, and as much again */

static struct uw_timers timers;
static struct uw_timer many[MANY];
static int64_t now;

/* The model beside the wheel: when each timer must come, INT64_MAX for never. */
static int64_t due[MANY];

static uint64_t random_state = 88172645463325252;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* All orders of magnitude alike: from 1 ns to years. */
static int64_t random_distance(void)
{
    return 1 + (int64_t)(random_number() % (UINT64_C(1) << random_number() % DISTANCE_BITS_MAX));
}

static int64_t rounded_up(int64_t ns)
{
    return ns > INT64_MAX - TICK ? INT64_MAX : (ns + TICK - 1) / TICK * TICK;
}

static void set_up(int64_t begin)
{
    memset(many, 0, sizeof many);
    for (int i = 0; i < MANY; i++)
        due[i] = INT64_MAX;
    now = begin;
    uw_timers_init(&timers, now);
}

/* A deadline already past comes with the next expiry, in the order of the present tick. */
static void start(int i, int64_t deadline)
{
    uw_timers_start(&timers, &many[i], deadline);
    due[i] = rounded_up(deadline) > now / TICK * TICK ? rounded_up(deadline) : now / TICK * TICK;
}

static void stop(int i)
{
    uw_timers_stop(&timers, &many[i]);
    due[i] = INT64_MAX;
}

static int64_t earliest_due(int count)
{
    int64_t earliest = INT64_MAX;

    for (int i = 0; i < count; i++)
        if (due[i] < earliest)
            earliest = due[i];
    return earliest;
}

/* Expires up to `to`: only what is due may come, in order. Returns how many came. */
static int expire(int64_t to)
{
    struct uw_list expired;
    struct uw_timer *timer;
    int64_t last = 0;
    int count = 0;

    now = to;
    uw_list_init(&expired);
    uw_timers_expire(&timers, now, &expired);
    for (; (timer = uw_timers_take(&timers, &expired)); count++) {
        long i = timer - many;

        CHECK(!timer->active && timer->deadline_ns <= now);
        CHECK(due[i] <= now && due[i] >= last);
        last = due[i];
        due[i] = INT64_MAX;
    }
    return count;
}

static void random_operation(void)
{
    int i = (int)(random_number() % FEW);

    switch (random_number() % 8) {
    case 0:
        stop(i);
        break;
    case 1:
        start(i, now - random_distance() % (now + 1)); /* in the past */
        break;
    default:
        start(i, now + random_distance());
    }
}

TEST(agrees_with_a_plain_table_over_random_operations)
{
    for (int round = 0; round < 100; round++) {
        set_up(random_distance());
        for (int step = 0; step < 60; step++) {
            for (int i = 0; i < 20; i++)
                random_operation();
            expire(now + random_distance());
            CHECK(earliest_due(FEW) > now); /* nothing due was left behind */
        }
    }
}

TEST(sleeping_until_the_next_time_is_never_too_long_and_comes_to_an_end)
{
    int count = 0;

    set_up(123456789);
    for (int i = 0; i < FEW; i++)
        start(i, now + random_distance());
    for (int turns = 0; timers.count; turns++) {
        int64_t next = uw_timers_next_ns(&timers);

        CHECK(next <= earliest_due(FEW));
        if (next <= now && turns > 0) {
            CHECK(!"a time that does not advance");
            return;
        }
        CHECK(turns < FEW * UW_TIMERS_LEVELS);
        count += expire(next);
    }
    CHECK_EQUAL(FEW, count);
    CHECK_EQUAL(INT64_MAX, uw_timers_next_ns(&timers));
}

TEST(a_hundred_thousand_all_come)
{
    int count = 0;

    set_up(UW_NS_PER_SECOND);
    for (int i = 0; i < MANY; i++)
        start(i, now + (int64_t)(random_number() % (100 * UW_NS_PER_SECOND)));
    while (now < 101 * UW_NS_PER_SECOND)
        count += expire(now + UW_NS_PER_SECOND / 100);
    CHECK_EQUAL(MANY, count);
    CHECK_EQUAL(0, timers.count);
}

TEST(the_past_comes_with_the_next_expiry)
{
    set_up(UW_NS_PER_SECOND);
    start(0, 5);
    start(1, 0);
    start(2, -1);
    CHECK(uw_timers_next_ns(&timers) <= now);
    CHECK_EQUAL(3, expire(now));
}

TEST(the_far_future_waits)
{
    set_up(UW_NS_PER_SECOND);
    start(0, INT64_MAX);
    start(1, now + (INT64_C(1) << 60)); /* 36 years: several rounds of the last level */
    while (now < INT64_C(1) << 60)
        CHECK_EQUAL(0, expire(now + (INT64_C(1) << 50)));
    CHECK_EQUAL(1, expire(now + 2 * UW_NS_PER_SECOND));
    CHECK(many[0].active && uw_timers_next_ns(&timers) > now);
    stop(0);
    stop(0);
    CHECK_EQUAL(0, timers.count);
}

TEST(a_timer_of_the_expired_list_can_be_started_or_stopped)
{
    struct uw_list expired;

    set_up(0);
    for (int i = 0; i < 3; i++)
        start(i, 10);
    uw_list_init(&expired);
    uw_timers_expire(&timers, TICK, &expired);
    now = TICK;
    start(0, 5); /* in the past again: not for this round */
    stop(1);
    CHECK_EQUAL(2, timers.count);
    CHECK(uw_timers_take(&timers, &expired) == &many[2]);
    CHECK(!uw_timers_take(&timers, &expired));
    CHECK(!many[1].active && !many[2].active);
    CHECK_EQUAL(1, timers.count);
    CHECK_EQUAL(1, expire(now));
    CHECK(!many[0].active && uw_list_empty(&many[0].link));
}

TEST(a_million_starts_and_stops_take_less_than_a_second)
{
    int64_t begin, spent;

    set_up(0);
    begin = processor_ns();
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < MANY; i++)
            uw_timers_start(&timers, &many[i], (int64_t)(random_number() % (100 * UW_NS_PER_SECOND)));
        for (int i = 0; i < MANY; i++)
            uw_timers_stop(&timers, &many[i]);
    }
    spent = processor_ns() - begin;
    CHECK_EQUAL(0, timers.count);
    CHECK(getenv("UW_UNDER_VALGRIND") || getenv("UW_UNDER_QEMU") || spent < UW_NS_PER_SECOND);
}

TEST_MAIN
