/* poll, where Windows counts its time in steps of many milliseconds. */
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"
#include "check.h"

#define ROUNDS 50
#define WAIT_MS 3

TEST(a_poll_waits_as_long_as_asked)
{
    struct pollfd item = {.events = POLLIN};
    int ends[2];

    CHECK_EQUAL(0, uw_pipe(ends));
    item.fd = ends[0];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin_ns = uw_clock_ns();

        CHECK_EQUAL(0, poll(&item, 1, WAIT_MS));
        CHECK(uw_clock_ns() - begin_ns >= WAIT_MS * UW_NS_PER_MS);
    }
    CHECK_EQUAL(0, close(ends[0]));
    CHECK_EQUAL(0, close(ends[1]));
}

TEST_MAIN
