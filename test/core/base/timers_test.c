#include "base/timers.h"

#include "base/clock.h"
#include "check.h"

#define TICK (INT64_C(1) << UW_TIMERS_TICK_BITS)
#define MANY 100000

static struct uw_timers timers;
static struct uw_timer many[MANY];

static uint64_t random_state = 1;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Expires up to `now` and checks that exactly what is due has come. */
static int expire(int64_t now)
{
    struct uw_list expired;
    int count = 0;

    uw_list_init(&expired);
    uw_timers_expire(&timers, now, &expired);
    while (!uw_list_empty(&expired)) {
        struct uw_timer *timer = uw_owner(expired.next, struct uw_timer, link);

        uw_list_remove(&timer->link);
        CHECK(timer->deadline_ns <= now);
        CHECK(!timer->active);
        count++;
    }
    return count;
}

TEST(none_is_early_and_none_is_lost)
{
    int64_t now = 123456789;
    int expired = 0;

    memset(many, 0, sizeof many);
    uw_timers_init(&timers, now);
    for (int i = 0; i < 2000; i++)
        uw_timers_start(&timers, &many[i],
                        now + (int64_t)(random_number() % (UINT64_C(1) << (random_number() % 50 + 1))));
    while (timers.count) {
        int64_t next = uw_timers_next_ns(&timers);

        CHECK(next > now - TICK);
        now = next > now ? next : now + TICK;
        expired += expire(now);
        for (int i = 0; i < 2000; i += 37) /* whatever is left is not overdue by more than a tick */
            CHECK(!many[i].active || many[i].deadline_ns > now - 2 * TICK);
    }
    CHECK_EQUAL(2000, expired);
    CHECK_EQUAL(INT64_MAX, uw_timers_next_ns(&timers));
}

TEST(starting_and_stopping_at_random)
{
    int64_t now = 0;

    memset(many, 0, sizeof many);
    uw_timers_init(&timers, now);
    for (int step = 0; step < 200000; step++) {
        struct uw_timer *timer = &many[random_number() % 500];

        if (random_number() % 3)
            uw_timers_start(&timers, timer, now + (int64_t)(random_number() % (UINT64_C(1) << 40)));
        else
            uw_timers_stop(&timers, timer);
        if (step % 100 == 0) {
            now += (int64_t)(random_number() % (UINT64_C(1) << 36));
            expire(now);
        }
    }
    for (int i = 0; i < 500; i++)
        CHECK(!many[i].active || many[i].deadline_ns > now - TICK);
}

TEST(the_past_and_the_far_future)
{
    struct uw_timer past = {0}, far = {0};

    uw_timers_init(&timers, UW_NS_PER_SECOND);
    uw_timers_start(&timers, &past, 5);
    uw_timers_start(&timers, &far, INT64_MAX / 2);
    CHECK_EQUAL(1, expire(UW_NS_PER_SECOND + 2 * TICK));
    CHECK(far.active);
    uw_timers_stop(&timers, &far);
    uw_timers_stop(&timers, &far);
    CHECK_EQUAL(0, timers.count);
}

TEST(a_hundred_thousand_are_cheap)
{
    int64_t begin, spent;

    memset(many, 0, sizeof many);
    uw_timers_init(&timers, 0);
    begin = uw_clock_ns();
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < MANY; i++)
            uw_timers_start(&timers, &many[i], (int64_t)(random_number() % (100 * UW_NS_PER_SECOND)));
    for (int i = 0; i < MANY; i++)
        uw_timers_stop(&timers, &many[i]);
    spent = uw_clock_ns() - begin;
    CHECK_EQUAL(0, timers.count);
    CHECK(getenv("UW_UNDER_VALGRIND") || spent < 5 * UW_NS_PER_SECOND); /* a million starts: far below in fact */
}

TEST_MAIN
