/* How long things took, to some hundredths: 32 buckets for each power of two. */
#ifndef BENCH_LATENCIES_H
#define BENCH_LATENCIES_H

#include <stdint.h>

#define LATENCY_BUCKETS 2048

struct latencies {
    uint64_t count;
    uint64_t buckets[LATENCY_BUCKETS];
};

void latencies_add(struct latencies *latencies, int64_t ns);

/* In milliseconds; 0 when there are none. */
double latencies_percentile(const struct latencies *latencies, double share);

#endif
