#include "transport/tls_handshake_queue.h"

#include "../check.h"

#define PLACES 40
#define WORK_NS UW_NS_PER_MS

static struct uw_loop loop;
static struct uw_tls_handshake_queue line;
static struct uw_tls_queued_handshake places[PLACES];
static int calls[PLACES], call_count; /* the numbers of the places, as they were called */
static int leaver = -1;               /* is removed when the first entry is called */

static void run(struct uw_tls_queued_handshake *place)
{
    int64_t begun_ns = uw_clock_ns();

    calls[call_count++] = (int)(place - places);
    if (leaver >= 0)
        uw_tls_handshake_queue_remove(&places[leaver]);
    while (uw_clock_ns() - begun_ns < WORK_NS)
        ;
    uw_tls_handshake_queue_count_time(&line, begun_ns);
}

static void set_up(void)
{
    CHECK_EQUAL(0, uw_loop_open(&loop, NULL, NULL));
    uw_tls_handshake_queue_init(&line, &loop);
    for (int i = 0; i < PLACES; i++)
        uw_tls_queued_handshake_init(&places[i], run);
    call_count = 0;
    leaver = -1;
}

static void tear_down(void)
{
    uw_loop_close(&loop);
    uw_tls_handshake_queue_close(&line);
}

TEST(a_turn_has_a_bounded_share)
{
    int turns = 0;

    set_up();
    for (int i = 0; i < PLACES; i++)
        uw_tls_handshake_queue_add(&line, &places[i], false);
    for (; call_count < PLACES && turns < PLACES; turns++) {
        int before = call_count;

        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_FOREVER));
        CHECK(call_count > before);
        CHECK(call_count - before <= UW_TLS_HANDSHAKES_NS / WORK_NS);
    }
    CHECK_EQUAL(PLACES, call_count);
    for (int i = 0; i < call_count; i++)
        CHECK_EQUAL(i, calls[i]);
    CHECK_EQUAL(0, uw_loop_operations(&loop));
    tear_down();
}

TEST(what_was_answered_comes_first)
{
    set_up();
    uw_tls_handshake_queue_add(&line, &places[0], false);
    uw_tls_handshake_queue_add(&line, &places[1], true);
    CHECK(!uw_tls_handshake_queue_may_run(&line, true));
    while (call_count < 2) /* one call may take all the time of a turn */
        CHECK_EQUAL(0, uw_loop_turn(&loop, UW_FOREVER));
    CHECK_EQUAL(1, calls[0]);
    CHECK_EQUAL(0, calls[1]);
    tear_down();
}

TEST(nobody_passes_the_line)
{
    set_up();
    CHECK(uw_tls_handshake_queue_may_run(&line, false));
    uw_tls_handshake_queue_add(&line, &places[0], false);
    CHECK(!uw_tls_handshake_queue_may_run(&line, false));
    CHECK(uw_tls_handshake_queue_may_run(&line, true));
    uw_tls_handshake_queue_remove(&places[0]);
    CHECK(uw_tls_handshake_queue_may_run(&line, false));
    uw_tls_handshake_queue_count_time(&line, uw_clock_ns() - UW_TLS_HANDSHAKES_NS);
    CHECK(!uw_tls_handshake_queue_may_run(&line, true));
    CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK(uw_tls_handshake_queue_may_run(&line, false));
    tear_down();
}

TEST(whoever_left_is_not_called)
{
    set_up();
    for (int i = 0; i < 3; i++)
        uw_tls_handshake_queue_add(&line, &places[i], false);
    leaver = 1;
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, uw_loop_turn(&loop, 0));
    CHECK_EQUAL(2, call_count);
    CHECK_EQUAL(2, calls[1]);
    tear_down();
}

TEST_MAIN
