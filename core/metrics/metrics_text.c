#include "metrics/metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "metrics/process_memory.h"

#define TEXT_BYTES_MIN 16384
#define LINE_BYTES_MAX 1024 /* longer than any line: UW_METRICS_INFO_BYTES_MAX and the names */
#define TOTAL "_total"
#define INFO "_info"

struct text {
    enum uw_metrics_format format;
    char *bytes; /* NULL: memory is exhausted */
    size_t length, capacity;
};

/* One sample or histogram: its labels, without braces, for the current metric. */
struct series {
    const struct uw_metric *metric;
    char labels[UW_METRICS_INFO_BYTES_MAX];
};

static const char *const type_names[] = {
    [UW_METRIC_COUNTER] = "counter",
    [UW_METRIC_GAUGE] = "gauge",
    [UW_METRIC_HISTOGRAM] = "histogram",
    [UW_METRIC_INFO] = "info",
};

static const char *const bounds[] = {
#define X(text, ns) text,
    UW_METRIC_BUCKETS(X)
#undef X
        "+Inf",
};

static void reserve(struct text *text)
{
    char *bytes;

    if (!text->bytes || text->capacity - text->length >= LINE_BYTES_MAX)
        return;
    bytes = realloc(text->bytes, text->capacity * 2);
    if (!bytes)
        free(text->bytes);
    text->bytes = bytes;
    text->capacity *= 2;
}

__attribute__((format(printf, 2, 3))) static void add_line(struct text *text, const char *format, ...)
{
    va_list arguments;

    reserve(text);
    if (!text->bytes)
        return;
    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->bytes + text->length, LINE_BYTES_MAX, format, arguments);
    va_end(arguments);
}

/* OpenMetrics writes the name of a family without the suffix of its samples. */
static int family_length(const struct text *text, const struct uw_metric *metric)
{
    size_t length = strlen(metric->name);

    if (text->format == UW_METRICS_OPENMETRICS && metric->type == UW_METRIC_COUNTER)
        length -= sizeof TOTAL - 1;
    if (text->format == UW_METRICS_OPENMETRICS && metric->type == UW_METRIC_INFO)
        length -= sizeof INFO - 1;
    return (int)length;
}

static const char *type_name(const struct text *text, const struct uw_metric *metric)
{
    bool unknown = text->format == UW_METRICS_PROMETHEUS && metric->type == UW_METRIC_INFO;

    return type_names[unknown ? UW_METRIC_GAUGE : metric->type];
}

static void add_head(struct text *text, const struct uw_metric *metric)
{
    int length = family_length(text, metric);

    add_line(text, "# HELP %.*s %s\n", length, metric->name, metric->help);
    add_line(text, "# TYPE %.*s %s\n", length, metric->name, type_name(text, metric));
}

static void add_sample(struct text *text, const struct series *series, uint64_t number)
{
    add_line(text, "%s%s%s%s %" PRIu64 "\n", series->metric->name, *series->labels ? "{" : "", series->labels,
             *series->labels ? "}" : "", number);
}

/* Buckets and count come from the same loads, so they agree. */
static void add_histogram(struct text *text, const struct series *series,
                          const uint64_t numbers[UW_METRIC_HISTOGRAM_VALUES])
{
    uint64_t count = 0, sum_ns = numbers[UW_METRIC_SUM];

    for (unsigned bucket = 0; bucket <= UW_METRIC_BUCKET_LAST; bucket++) {
        count += numbers[bucket];
        add_line(text, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", series->metric->name, series->labels, bounds[bucket],
                 count);
    }
    add_line(text, "%s_sum{%s} %" PRIu64 ".%09" PRIu64 "\n", series->metric->name, series->labels,
             sum_ns / (uint64_t)UW_NS_PER_SECOND, sum_ns % (uint64_t)UW_NS_PER_SECOND);
    add_line(text, "%s_count{%s} %" PRIu64 "\n", series->metric->name, series->labels, count);
}

/* A gauge tells of processes that run; a counter, of those that have ended, too. */
static uint64_t sum(const struct uw_metrics_block *blocks, const struct uw_metric *metric, unsigned value)
{
    uint64_t total = 0;

    for (int i = 0; i < UW_METRICS_BLOCKS; i++)
        if (metric->type != UW_METRIC_GAUGE || uw_metrics_process_lives(atomic_load(&blocks[i].process)))
            total += uw_metrics_get(&blocks[i], value);
    return total;
}

/* Returns the earliest time of the processes that run, or 0. */
static uint64_t earliest(const struct uw_metrics_block *blocks, unsigned value)
{
    uint64_t time = 0;

    for (int i = 0; i < UW_METRICS_BLOCKS; i++) {
        uint64_t own = uw_metrics_get(&blocks[i], value);

        if (own && (!time || own < time) && uw_metrics_process_lives(atomic_load(&blocks[i].process)))
            time = own;
    }
    return time;
}

/* Adds labels of the table. Their values need no escapes. */
static void add_labels(struct series *series, const unsigned index[2])
{
    size_t length = strlen(series->labels);

    for (int i = 0; i < 2; i++) {
        const struct uw_metric_label *label = series->metric->labels[i];

        if (*label->name)
            length += (size_t)snprintf(series->labels + length, sizeof series->labels - length, "%s%s=\"%s\"",
                                       length ? "," : "", label->name, label->values[index[i]]);
    }
}

/* A histogram appears with its first observation, because a label has many values. */
static void add_worker_histogram(struct text *text, const struct series *series, const struct uw_metrics_block *blocks,
                                 unsigned value)
{
    uint64_t numbers[UW_METRIC_HISTOGRAM_VALUES], count = 0;

    for (unsigned i = 0; i < UW_METRIC_HISTOGRAM_VALUES; i++)
        numbers[i] = sum(blocks, series->metric, value + i);
    for (unsigned i = 0; i <= UW_METRIC_BUCKET_LAST; i++)
        count += numbers[i];
    if (count)
        add_histogram(text, series, numbers);
}

/* A time that is not known is left out: an alert would take 0 for an expiry in the past. */
static void add_expiry(struct text *text, const struct series *series, const struct uw_metrics_block *blocks)
{
    uint64_t time = earliest(blocks, series->metric->first);

    if (time)
        add_sample(text, series, time);
}

static void add_worker_series(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric,
                              unsigned worker, const unsigned index[2])
{
    unsigned position = index[0] * metric->labels[1]->count + index[1];
    struct series series = {.metric = metric};

    (void)snprintf(series.labels, sizeof series.labels, "worker=\"%u\"", worker);
    add_labels(&series, index);
    if (metric->type == UW_METRIC_HISTOGRAM)
        add_worker_histogram(text, &series, metrics->blocks[worker],
                             metric->first + position * UW_METRIC_HISTOGRAM_VALUES);
    else if (metric->first == UW_METRIC_CERTIFICATE_EXPIRY_FIRST)
        add_expiry(text, &series, metrics->blocks[worker]);
    else
        add_sample(text, &series, sum(metrics->blocks[worker], metric, metric->first + position));
}

static void add_worker(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric,
                       unsigned worker)
{
    for (unsigned i = 0; i < metric->labels[0]->count; i++)
        for (unsigned j = 0; j < metric->labels[1]->count; j++)
            add_worker_series(text, metrics, metric, worker, (unsigned[]){i, j});
}

static void add_server(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric)
{
    for (unsigned i = 0; i < metric->labels[0]->count; i++) {
        struct series series = {.metric = metric};

        if (metric->type == UW_METRIC_INFO)
            memcpy(series.labels, metrics->info, sizeof series.labels);
        add_labels(&series, (unsigned[]){i, 0});
        add_sample(text, &series,
                   metric->type == UW_METRIC_INFO
                       ? 1
                       : uw_metrics_get(&metrics->blocks[0][UW_METRICS_SUPERVISOR], metric->first + i));
    }
}

/* Returns -1 when no process lives, or the system does not tell. */
static int64_t memory_of(const struct uw_metrics_block *blocks, int64_t (*bytes_of)(int64_t process))
{
    int64_t total = -1;

    for (int i = 0; i < UW_METRICS_BLOCKS; i++) {
        int64_t process = atomic_load(&blocks[i].process), bytes = process ? bytes_of(process) : -1;

        if (bytes >= 0)
            total = (total < 0 ? 0 : total) + bytes;
    }
    return total;
}

static void add_memory(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric,
                       unsigned worker)
{
    bool resident = metric->first == UW_METRIC_RESIDENT_MEMORY_FIRST;
    int64_t bytes =
        memory_of(metrics->blocks[worker], resident ? uw_process_resident_bytes : uw_process_proportional_bytes);
    struct series series = {.metric = metric};

    (void)snprintf(series.labels, sizeof series.labels, "worker=\"%u\"", worker);
    if (bytes >= 0)
        add_sample(text, &series, (uint64_t)bytes);
}

static void add_samples(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric)
{
    if (metric->scope == UW_METRIC_SERVER) {
        add_server(text, metrics, metric);
        return;
    }
    for (unsigned worker = 0; worker < metrics->workers; worker++)
        (metric->scope == UW_METRIC_MEMORY ? add_memory : add_worker)(text, metrics, metric, worker);
}

static bool is_of_supervisor(const struct uw_metric *metric)
{
    return metric->first == UW_METRIC_WORKERS_FIRST || metric->first == UW_METRIC_WORKER_RESTARTS_FIRST;
}

/* A metric without a sample is left out. */
static void add_metric(struct text *text, const struct uw_metrics *metrics, const struct uw_metric *metric)
{
    size_t before = text->length, with_head;

    if (is_of_supervisor(metric) && !metrics->supervised)
        return;
    add_head(text, metric);
    with_head = text->length;
    add_samples(text, metrics, metric);
    if (text->length == with_head)
        text->length = before;
}

char *uw_metrics_text(const struct uw_metrics *metrics, enum uw_metrics_format format, size_t *length)
{
    struct text text = {.format = format, .bytes = malloc(TEXT_BYTES_MIN), .capacity = TEXT_BYTES_MIN};

    for (unsigned i = 0; i < uw_metrics_count; i++)
        add_metric(&text, metrics, &uw_metrics[i]);
    if (format == UW_METRICS_OPENMETRICS)
        add_line(&text, "# EOF\n");
    *length = text.length;
    return text.bytes;
}
