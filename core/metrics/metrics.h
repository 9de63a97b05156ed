/* Metrics of all processes of a server, in memory that they share. The memory outlives each worker. Any process reads
 * it without waiting, even while its owner is stopped.
 *
 * Each worker has three blocks. A worker process claims one of the first two: a worker and its successor run at the
 * same time. The supervisor writes the third. A reader adds them up, so counters never decrease. */
#ifndef UW_METRICS_METRICS_H
#define UW_METRICS_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics_table.h"

#define UW_METRICS_WORKERS_MAX 1000
#define UW_METRICS_INFO_BYTES_MAX 512

enum uw_metric_label_id {
#define X(id, name, count, ...) UW_LABEL_##id,
    UW_METRIC_LABELS(X)
#undef X
};

enum uw_metric_label_count {
#define X(id, name, count, ...) UW_LABEL_COUNT_##id = count,
    UW_METRIC_LABELS(X)
#undef X
};

enum uw_metric_buckets {
#define X(text, ns) UW_BUCKET_##ns,
    UW_METRIC_BUCKETS(X)
#undef X
        UW_METRIC_BUCKET_LAST, /* without a bound */
    UW_METRIC_SUM,             /* of the nanoseconds, after the buckets */
    UW_METRIC_HISTOGRAM_VALUES,
};

enum uw_metric_type { UW_METRIC_COUNTER, UW_METRIC_GAUGE, UW_METRIC_HISTOGRAM, UW_METRIC_INFO };
enum uw_metric_scope { UW_METRIC_WORKER, UW_METRIC_SERVER, UW_METRIC_MEMORY };

#define UW_METRIC_VALUES(type) (UW_METRIC_##type == UW_METRIC_HISTOGRAM ? UW_METRIC_HISTOGRAM_VALUES : 1)

/* The first value of each metric in a block. */
enum uw_metric_value {
#define X(id, type, scope, label, label_2, name, help) \
    UW_METRIC_##id##_FIRST, \
        UW_METRIC_##id##_LAST = \
            UW_METRIC_##id##_FIRST + UW_METRIC_VALUES(type) * UW_LABEL_COUNT_##label * UW_LABEL_COUNT_##label_2 - 1,
    UW_METRICS(X)
#undef X
        UW_METRIC_VALUES_MAX,
};

struct uw_metric_label {
    const char *name;
    const char *const *values;
    unsigned count;
};

struct uw_metric {
    const char *name, *help;
    enum uw_metric_type type;
    enum uw_metric_scope scope;
    const struct uw_metric_label *labels[2];
    unsigned first; /* value in a block */
};

extern const struct uw_metric uw_metrics[];
extern const unsigned uw_metrics_count;

/* One process writes a block, and in it one thread each value. */
struct uw_metrics_block {
    _Atomic int64_t process; /* that claimed the block; 0: none */
    _Atomic uint64_t values[UW_METRIC_VALUES_MAX];
};

enum { UW_METRICS_SUPERVISOR = 2, UW_METRICS_BLOCKS };

struct uw_metrics {
    unsigned workers;
    bool supervised;                      /* a supervisor counts the workers */
    char info[UW_METRICS_INFO_BYTES_MAX]; /* labels of upwell_info, as text */
    struct uw_metrics_block blocks[][UW_METRICS_BLOCKS];
};

/* Returns metrics for `workers` processes and their supervisor, or with 0 for a process without one. Later child
 * processes share them. Returns NULL without memory, or for more than UW_METRICS_WORKERS_MAX. */
struct uw_metrics *uw_metrics_new(unsigned workers);

/* For this process. */
void uw_metrics_free(struct uw_metrics *metrics);

/* Adds a label to upwell_info. Call this before another thread or process reads. Returns false when it does not fit. */
bool uw_metrics_add_info(struct uw_metrics *metrics, const char *name, const char *value);

/* Claims a block that no living process has, and sets its gauges to 0. Counters continue. */
struct uw_metrics_block *uw_metrics_claim(struct uw_metrics *metrics, unsigned worker, int64_t process);

static inline struct uw_metrics_block *uw_metrics_of_supervisor(struct uw_metrics *metrics, unsigned worker)
{
    return &metrics->blocks[worker][UW_METRICS_SUPERVISOR];
}

/* Whether the process has not ended. */
bool uw_metrics_process_lives(int64_t process);

/* Returns the index of a label's value, or -1. */
int uw_metric_label_index(enum uw_metric_label_id label, const char *value);

/* A value has one writer, so a load and a store suffice. */
static inline void uw_metrics_set(struct uw_metrics_block *block, unsigned value, uint64_t number)
{
    atomic_store_explicit(&block->values[value], number, memory_order_relaxed);
}

static inline uint64_t uw_metrics_get(const struct uw_metrics_block *block, unsigned value)
{
    return atomic_load_explicit(&block->values[value], memory_order_relaxed);
}

static inline void uw_metrics_add(struct uw_metrics_block *block, unsigned value, uint64_t amount)
{
    uw_metrics_set(block, value, uw_metrics_get(block, value) + amount);
}

/* Adds the growth of a count of this process since the last call. */
static inline void uw_metrics_add_growth(struct uw_metrics_block *block, unsigned value, uint64_t now, uint64_t *before)
{
    if (now != *before)
        uw_metrics_add(block, value, now - *before);
    *before = now;
}

/* Adds an observation to the histogram that begins at `first`. */
void uw_metrics_observe(struct uw_metrics_block *block, unsigned first, int64_t ns);

#endif
