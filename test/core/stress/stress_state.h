/* What the parts of the stress test have in common. */
#ifndef UW_STRESS_STRESS_STATE_H
#define UW_STRESS_STRESS_STATE_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "request_plan.h"
#include "server/server.h"

#define PATIENCE_SECONDS 30 /* who waits longer waits for something that was lost */

static uint64_t seed;

#define FAIL(...) \
    do { \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__); \
        fprintf(stderr, " (SEED=%" PRIu64 ")\n", seed); \
        abort(); \
    } while (0)

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            FAIL("%s", #condition); \
    } while (0)

/* One server, for as long as a round lasts. */
static struct round {
    struct uw_server server;
    struct sockaddr_in address;
    int listener;
    atomic_bool ending;   /* clients begin nothing new, and a kept connection may be closed */
    atomic_bool cut;      /* connections may be closed in the middle of an answer */
    atomic_bool is_small; /* connections_max is below the number of clients */
    atomic_bool stop;     /* the loop and the workers end */
} now;

static struct {
    atomic_ulong answered, hijacked, aborted, left, reset, half_closed, refused, drained, lent;
} counts;

static inline void jitter(struct dice *dice)
{
    if (one_in(dice, 4))
        sched_yield();
    else if (one_in(dice, 8))
        usleep(below(dice, 300));
}

#endif
