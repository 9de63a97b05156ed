#include "metrics/metrics.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/shared_memory.h"

#define X(id, name, count, ...) static const char *const values_of_##id[count] = {__VA_ARGS__};
UW_METRIC_LABELS(X)
#undef X

static const struct uw_metric_label labels[] = {
#define X(id, name, count, ...) [UW_LABEL_##id] = {name, values_of_##id, count},
    UW_METRIC_LABELS(X)
#undef X
};

const struct uw_metric uw_metrics[] = {
#define X(id, type, scope, label, label_2, name, help) \
    {name, \
     help, \
     UW_METRIC_##type, \
     UW_METRIC_##scope, \
     {&labels[UW_LABEL_##label], &labels[UW_LABEL_##label_2]}, \
     UW_METRIC_##id##_FIRST},
    UW_METRICS(X)
#undef X
};

const unsigned uw_metrics_count = sizeof uw_metrics / sizeof *uw_metrics;

static const int64_t bounds_ns[] = {
#define X(text, ns) INT64_C(ns),
    UW_METRIC_BUCKETS(X)
#undef X
};

static size_t bytes_for(unsigned workers)
{
    return sizeof(struct uw_metrics) + workers * sizeof(struct uw_metrics_block[UW_METRICS_BLOCKS]);
}

struct uw_metrics *uw_metrics_new(unsigned workers)
{
    unsigned count = workers ? workers : 1;
    struct uw_metrics *metrics = count <= UW_METRICS_WORKERS_MAX ? uw_shared_memory_new(bytes_for(count)) : NULL;

    if (metrics) {
        metrics->workers = count;
        metrics->supervised = workers > 0;
    }
    return metrics;
}

void uw_metrics_free(struct uw_metrics *metrics)
{
    uw_shared_memory_free(metrics, bytes_for(metrics->workers));
}

/* Writes a label value with escapes. Returns the length, or `capacity` when it does not fit. */
static size_t escape(char *text, size_t capacity, const char *value)
{
    size_t length = 0;

    for (; *value && length + 2 < capacity; value++) {
        if (*value == '\\' || *value == '"' || *value == '\n')
            text[length++] = '\\';
        text[length++] = *value == '\n' ? 'n' : *value;
    }
    text[length] = '\0';
    return *value ? capacity : length;
}

bool uw_metrics_add_info(struct uw_metrics *metrics, const char *name, const char *value)
{
    char escaped[UW_METRICS_INFO_BYTES_MAX];
    size_t used = strlen(metrics->info), left = sizeof metrics->info - used;
    int length;

    if (escape(escaped, sizeof escaped, value) == sizeof escaped)
        return false;
    length = snprintf(metrics->info + used, left, "%s%s=\"%s\"", used ? "," : "", name, escaped);
    if (length > 0 && (size_t)length < left)
        return true;
    metrics->info[used] = '\0';
    return false;
}

bool uw_metrics_process_lives(int64_t process)
{
    if (process == 0)
        return false;
#ifdef _WIN32
    return true;
#else
    return kill((pid_t)process, 0) == 0 || errno != ESRCH;
#endif
}

static void clear_gauges(struct uw_metrics_block *block)
{
    for (unsigned i = 0; i < uw_metrics_count; i++) {
        const struct uw_metric *metric = &uw_metrics[i];
        unsigned count = metric->labels[0]->count * metric->labels[1]->count;

        for (unsigned j = 0; metric->type == UW_METRIC_GAUGE && j < count; j++)
            uw_metrics_set(block, metric->first + j, 0);
    }
}

static bool take(struct uw_metrics_block *block, int64_t process)
{
    int64_t owner = atomic_load(&block->process);

    return !uw_metrics_process_lives(owner) && atomic_compare_exchange_strong(&block->process, &owner, process);
}

/* A process of an earlier worker may have its number again, so both blocks may seem to be in use. */
struct uw_metrics_block *uw_metrics_claim(struct uw_metrics *metrics, unsigned worker, int64_t process)
{
    struct uw_metrics_block *blocks = metrics->blocks[worker], *block = &blocks[0];

    if (!take(&blocks[0], process)) {
        block = &blocks[1];
        if (!take(block, process))
            atomic_store(&block->process, process);
    }
    clear_gauges(block);
    return block;
}

int uw_metric_label_index(enum uw_metric_label_id label, const char *value)
{
    for (unsigned i = 0; i < labels[label].count; i++)
        if (strcmp(labels[label].values[i], value) == 0)
            return (int)i;
    return -1;
}

void uw_metrics_observe(struct uw_metrics_block *block, unsigned first, int64_t ns)
{
    unsigned bucket = 0;

    while (bucket < UW_METRIC_BUCKET_LAST && ns > bounds_ns[bucket])
        bucket++;
    uw_metrics_add(block, first + bucket, 1);
    uw_metrics_add(block, first + UW_METRIC_SUM, (uint64_t)ns);
}
