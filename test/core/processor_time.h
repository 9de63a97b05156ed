/* What a test has cost this machine, which others may keep busy meanwhile. */
#ifndef UW_TEST_PROCESSOR_TIME_H
#define UW_TEST_PROCESSOR_TIME_H

#include <time.h>

#include "base/clock.h"
#include "check.h"

static inline int64_t processor_ns(void)
{
    struct timespec spent;

    CHECK_EQUAL(0, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent));
    return (int64_t)spent.tv_sec * UW_NS_PER_SECOND + spent.tv_nsec;
}

#endif
