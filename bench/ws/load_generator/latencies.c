#include "latencies.h"

#define FINE_BITS 5
#define FINE (UINT64_C(1) << FINE_BITS)

static unsigned bucket_of(uint64_t ns)
{
    unsigned shift = ns < 2 * FINE ? 0 : 63 - (unsigned)__builtin_clzll(ns) - FINE_BITS;

    return shift * FINE + (unsigned)(ns >> shift);
}

/* The smallest of the bucket. */
static uint64_t ns_of(unsigned bucket)
{
    unsigned shift = bucket < 2 * FINE ? 0 : bucket / FINE - 1;

    return (bucket - shift * FINE) << shift;
}

void latencies_add(struct latencies *latencies, int64_t ns)
{
    latencies->buckets[bucket_of(ns > 0 ? (uint64_t)ns : 0)]++;
    latencies->count++;
}

double latencies_percentile(const struct latencies *latencies, double share)
{
    uint64_t below = (uint64_t)(share * (double)latencies->count), count = 0;
    unsigned bucket = 0;

    if (!latencies->count)
        return 0;
    while ((count += latencies->buckets[bucket]) <= below)
        bucket++;
    return (double)ns_of(bucket) / 1e6;
}
