/* Metrics of several processes in shared memory, and their text. */
#include "metrics/metrics_text.h"

#include <ctype.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char *text;

static const char *text_of(const struct uw_metrics *metrics, enum uw_metrics_format format)
{
    size_t length = 0;
    char *bytes = uw_metrics_text(metrics, format, &length);

    CHECK(bytes != NULL);
    free(text);
    text = calloc(1, length + 1);
    memcpy(text, bytes, length);
    free(bytes);
    return text;
}

static void check_has(const char *whole, const char *part)
{
    if (!strstr(whole, part)) {
        check_failures++;
        printf("missing:\n%sin:\n%s", part, whole);
    }
}

static void check_lacks(const char *whole, const char *part)
{
    if (strstr(whole, part)) {
        check_failures++;
        printf("unexpected: %s\n", part);
    }
}

TEST(a_new_server_shows_zeros)
{
    struct uw_metrics *metrics = uw_metrics_new(2);
    const char *whole = text_of(metrics, UW_METRICS_PROMETHEUS);

    check_has(whole, "# HELP http_server_active_requests Requests without a complete response.\n"
                     "# TYPE http_server_active_requests gauge\n"
                     "http_server_active_requests{worker=\"0\"} 0\n"
                     "http_server_active_requests{worker=\"1\"} 0\n");
    check_has(whole, "# TYPE upwell_timeouts_total counter\nupwell_timeouts_total{worker=\"0\"} 0\n");
    check_has(whole, "upwell_requests_refused_total{worker=\"1\",http_response_status_code=\"431\"} 0\n");
    check_has(whole, "upwell_workers{state=\"serving\"} 0\n");
    check_lacks(whole, "http_server_request_duration_seconds");
    check_lacks(whole, "process_resident_memory_bytes");
    check_lacks(whole, "# EOF");
    uw_metrics_free(metrics);
}

TEST(a_process_without_a_supervisor_has_no_metrics_of_one)
{
    struct uw_metrics *metrics = uw_metrics_new(0);
    const char *whole = text_of(metrics, UW_METRICS_PROMETHEUS);

    check_lacks(whole, "upwell_workers");
    check_lacks(whole, "upwell_worker_restarts");
    check_has(whole, "upwell_timeouts_total{worker=\"0\"} 0\n");
    check_lacks(whole, "worker=\"1\"");
    uw_metrics_free(metrics);
}

TEST(a_histogram)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    struct uw_metrics_block *block = uw_metrics_claim(metrics, 0, getpid());

    uw_metrics_observe(block, UW_METRIC_QUEUE_TIME_FIRST, 5000000); /* a bound belongs to its bucket */
    uw_metrics_observe(block, UW_METRIC_QUEUE_TIME_FIRST, 5000001);
    uw_metrics_observe(block, UW_METRIC_QUEUE_TIME_FIRST, 11000000000);
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "# TYPE upwell_queue_time_seconds histogram\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.005\"} 1\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.01\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.025\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.05\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.075\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.1\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.25\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.5\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"0.75\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"1.0\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"2.5\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"5.0\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"7.5\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"10.0\"} 2\n"
                                                       "upwell_queue_time_seconds_bucket{worker=\"0\",le=\"+Inf\"} 3\n"
                                                       "upwell_queue_time_seconds_sum{worker=\"0\"} 11.010000001\n"
                                                       "upwell_queue_time_seconds_count{worker=\"0\"} 3\n");
    uw_metrics_free(metrics);
}

TEST(openmetrics_names_families_without_suffixes)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    const char *whole;

    CHECK(uw_metrics_add_info(metrics, "version", "1"));
    whole = text_of(metrics, UW_METRICS_OPENMETRICS);
    check_has(whole, "# HELP upwell_timeouts Clients that were too slow.\n# TYPE upwell_timeouts counter\n"
                     "upwell_timeouts_total{worker=\"0\"} 0\n");
    check_has(whole, "# TYPE upwell info\nupwell_info{version=\"1\"} 1\n");
    CHECK(strcmp(whole + strlen(whole) - 7, "\n# EOF\n") == 0);
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "# TYPE upwell_info gauge\nupwell_info{version=\"1\"} 1\n");
    uw_metrics_free(metrics);
}

TEST(label_values_have_escapes)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    char longest[UW_METRICS_INFO_BYTES_MAX + 1];

    CHECK(uw_metrics_add_info(metrics, "a", "\"\\\n"));
    CHECK(uw_metrics_add_info(metrics, "b", ""));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(!uw_metrics_add_info(metrics, "c", longest));
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "\nupwell_info{a=\"\\\"\\\\\\n\",b=\"\"} 1\n");
    uw_metrics_free(metrics);
}

TEST(a_successor_continues_the_counters_but_not_the_gauges)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    int status = -1;
    pid_t child = fork();
    struct uw_metrics_block *block;

    if (child == 0) {
        block = uw_metrics_claim(metrics, 0, getpid());
        uw_metrics_add(block, UW_METRIC_TIMEOUTS_FIRST, 7);
        uw_metrics_set(block, UW_METRIC_ACTIVE_REQUESTS_FIRST, 5);
        check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "http_server_active_requests{worker=\"0\"} 5\n");
        _exit(0);
    }
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "http_server_active_requests{worker=\"0\"} 0\n");
    block = uw_metrics_claim(metrics, 0, getpid());
    CHECK(block == &metrics->blocks[0][0]);
    CHECK_EQUAL(0, uw_metrics_get(block, UW_METRIC_ACTIVE_REQUESTS_FIRST));
    uw_metrics_add(block, UW_METRIC_TIMEOUTS_FIRST, 1);
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "upwell_timeouts_total{worker=\"0\"} 8\n");
    uw_metrics_free(metrics);
}

TEST(two_processes_of_a_worker_have_a_block_each)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    struct uw_metrics_block *first = uw_metrics_claim(metrics, 0, getpid());
    struct uw_metrics_block *second = uw_metrics_claim(metrics, 0, getppid());

    CHECK(first != second);
    uw_metrics_add(first, UW_METRIC_TIMEOUTS_FIRST, 1);
    uw_metrics_add(second, UW_METRIC_TIMEOUTS_FIRST, 2);
    uw_metrics_add(uw_metrics_of_supervisor(metrics, 0), UW_METRIC_WORKER_RESTARTS_FIRST, 4);
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS), "upwell_timeouts_total{worker=\"0\"} 3\n");
    check_has(text, "upwell_worker_restarts_total{worker=\"0\",reason=\"died\"} 4\n");
    uw_metrics_free(metrics);
}

TEST(the_earliest_expiry_of_a_worker_counts)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    struct uw_metrics_block *first = uw_metrics_claim(metrics, 0, getpid());
    struct uw_metrics_block *second = uw_metrics_claim(metrics, 0, getppid());

    check_lacks(text_of(metrics, UW_METRICS_PROMETHEUS), "expiry");
    uw_metrics_set(first, UW_METRIC_CERTIFICATE_EXPIRY_FIRST, 2000);
    uw_metrics_set(second, UW_METRIC_CERTIFICATE_EXPIRY_FIRST, 1000);
    check_has(text_of(metrics, UW_METRICS_PROMETHEUS),
              "upwell_tls_certificate_expiry_timestamp_seconds{worker=\"0\"} 1000\n");
    uw_metrics_free(metrics);
}

TEST(the_growth_of_a_count_is_added_once)
{
    struct uw_metrics *metrics = uw_metrics_new(1);
    struct uw_metrics_block *block = uw_metrics_claim(metrics, 0, getpid());
    uint64_t before = 0;

    uw_metrics_add_growth(block, UW_METRIC_GC_COUNT_FIRST, 3, &before);
    uw_metrics_add_growth(block, UW_METRIC_GC_COUNT_FIRST, 3, &before);
    uw_metrics_add_growth(block, UW_METRIC_GC_COUNT_FIRST, 5, &before);
    CHECK_EQUAL(5, uw_metrics_get(block, UW_METRIC_GC_COUNT_FIRST));
    uw_metrics_free(metrics);
}

/* What promtool checks of names: letters, digits and underscores; a counter ends with _total, and nothing else does. */
TEST(names_follow_the_rules)
{
    for (unsigned i = 0; i < uw_metrics_count; i++) {
        const struct uw_metric *metric = &uw_metrics[i];
        size_t length = strlen(metric->name);
        bool total = length > 6 && strcmp(metric->name + length - 6, "_total") == 0;

        CHECK_EQUAL(metric->type == UW_METRIC_COUNTER, total);
        CHECK(metric->help[strlen(metric->help) - 1] == '.' && !strpbrk(metric->help, "\\\n\""));
        for (size_t at = 0; at < length; at++)
            CHECK(islower((unsigned char)metric->name[at]) || metric->name[at] == '_');
    }
}

TEST(the_number_of_workers_has_a_limit)
{
    CHECK(uw_metrics_new(UW_METRICS_WORKERS_MAX + 1) == NULL);
    CHECK_EQUAL(-1, uw_metric_label_index(UW_LABEL_RESTART, "other"));
    CHECK_EQUAL(1, uw_metric_label_index(UW_LABEL_RESTART, "no_heartbeat"));
}

TEST_MAIN
