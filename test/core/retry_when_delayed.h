/* Plays that time out when this machine holds them up: one that was held up proves nothing. */
#ifndef UW_TEST_RETRY_WHEN_DELAYED_H
#define UW_TEST_RETRY_WHEN_DELAYED_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

#define IN_TIME_PLAYS 5 /* the last has sixteen times as long as the first */

/* `play` tells whether it was in time, and leaves nothing behind. If not, it is played again, with twice the time. */
static inline void in_time(bool (*play)(const char *backend, int64_t timeout_ns), const char *backend,
                           int64_t timeout_ns)
{
    bool done = false;

    for (int i = 0; i < IN_TIME_PLAYS && !done; i++)
        done = play(backend, timeout_ns << i);
    CHECK(done);
}

#endif
