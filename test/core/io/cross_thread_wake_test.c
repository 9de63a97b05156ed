/* A loop is woken by other threads as long as it is there. */
#include "check.h"
#include "io/backend.h"

#define TURNS_MAX 10
#define TURN_NS (UW_NS_PER_SECOND / 10)

static void turn_until_woken(struct uw_loop *loop)
{
    uint64_t wakes = loop->wakes;

    uw_loop_wake(loop);
    for (int i = 0; i < TURNS_MAX && loop->wakes == wakes; i++)
        CHECK_EQUAL(0, uw_loop_turn(loop, TURN_NS));
    CHECK(loop->wakes > wakes);
}

/* As for want of memory, or with whatever else the kernel ends it. */
static void fail_to_wait(struct uw_loop *loop)
{
    uint64_t wakes = loop->wakes;

    uw_cancel(loop, &loop->wake_poll);
    for (int i = 0; i < TURNS_MAX && loop->wakes == wakes && loop->wake_poll.pending; i++)
        CHECK_EQUAL(0, uw_loop_turn(loop, TURN_NS));
}

TEST(a_loop_is_woken_after_its_waiting_has_failed)
{
    for (int i = 0; uw_backends[i]; i++) {
        struct uw_loop loop;

        if (uw_backend_probe(uw_backends[i]))
            continue;
        CHECK_EQUAL(0, uw_loop_open(&loop, uw_backends[i]->name, NULL));
        turn_until_woken(&loop);
        fail_to_wait(&loop);
        turn_until_woken(&loop);
        uw_loop_close(&loop);
    }
}

TEST_MAIN
