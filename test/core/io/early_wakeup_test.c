/* A wait that ends before its time, as some do on Windows. */
#include "check.h"
#include "io/backend.h"

#define LONG_NS (60 * UW_NS_PER_SECOND)
#define TURNS 10 /* more than the timers have levels */

static int expiries;

static void expired(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop, (void)timer;
    expiries++;
}

static int wait_too_shortly(struct uw_loop *loop, int64_t wait_ns)
{
    CHECK(wait_ns > 0);
    loop->now_ns = uw_clock_ns();
    return UW_WAIT_NOTHING;
}

TEST(no_timer_comes_before_its_time)
{
    struct uw_timer timer = {0};
    struct uw_backend hasty;
    const struct uw_backend *usual;
    struct uw_loop loop;

    CHECK_EQUAL(0, uw_loop_open(&loop, "poll", expired));
    usual = loop.backend;
    hasty = *usual;
    hasty.wait = wait_too_shortly;
    loop.backend = &hasty;
    uw_timer_start(&loop, &timer, uw_clock_ns() + LONG_NS);
    for (int i = 0; i < TURNS; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 2 * LONG_NS));
    CHECK(timer.active && expiries == 0);
    loop.backend = usual;
    uw_timer_stop(&loop, &timer);
    uw_loop_close(&loop);
}

TEST_MAIN
