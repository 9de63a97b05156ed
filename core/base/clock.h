/* Time in nanoseconds of the monotonic clock. */
#ifndef UW_BASE_CLOCK_H
#define UW_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define UW_NS_PER_SECOND INT64_C(1000000000)
#define UW_NS_PER_MS INT64_C(1000000)
#define UW_NS_PER_US INT64_C(1000)

/* See `man 2 clock_gettime`. CLOCK_MONOTONIC cannot fail on a supported system. */
static inline int64_t uw_clock_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * UW_NS_PER_SECOND + now.tv_nsec;
}

#endif
