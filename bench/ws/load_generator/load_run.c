#include "load_run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define OPENING_MAX 64                  /* at a time: a backlog is short */
#define OPEN_NS (20 * UW_NS_PER_SECOND) /* for all to connect */
#define READING_MS 5000                 /* for whoever reads the server's figures after "finished" */

static double cpu_seconds(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage))
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void end_of_open(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    run_fail(uw_container_of(timer, struct run, timer), "not all connect in time");
}

static void end_of_work(struct uw_loop *loop, struct uw_timer *timer)
{
    struct run *run = uw_container_of(timer, struct run, timer);

    (void)loop;
    run->over = true;
    run->workload->end(run);
}

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

static void begin(struct run *run)
{
    if (!run->workload->connects)
        say("connected");
    run->begun = true;
    run->begin_ns = uw_clock_ns();
    run->begin_cpu = cpu_seconds();
    run->timer.expire = end_of_work;
    uw_timer_start(&run->loop, &run->timer, run->begin_ns + (int64_t)run->options.seconds * UW_NS_PER_SECOND);
    run->workload->begin(run);
}

static void open_some(struct run *run)
{
    for (; run->opening < run->options.clients && run->opening - run->opened < OPENING_MAX; run->opening++)
        peer_open(&run->peers[run->opening]);
}

static unsigned expected(const struct run *run)
{
    return run->options.clients + (run->workload->publisher_kind ? 1 : 0);
}

void run_opened(struct run *run)
{
    run->opened++;
    if (run->opened < run->options.clients)
        open_some(run);
    else if (run->opened < expected(run))
        peer_open(&run->publisher);
    else
        begin(run);
}

void run_fail(struct run *run, const char *failure)
{
    run->failures++;
    if (!run->failure)
        run->failure = failure;
    if (run->begun)
        return;
    fprintf(stderr, "%s\n", failure);
    exit(EXIT_FAILURE);
}

void run_finish(struct run *run)
{
    run->end_ns = uw_clock_ns();
    run->finished = true;
}

static void open_all(struct run *run)
{
    for (unsigned i = 0; i < run->options.clients; i++)
        peer_prepare(&run->peers[i], run, i, run->workload->kind, run->workload->path, run->workload->event_stream);
    peer_prepare(&run->publisher, run, run->options.clients, run->workload->publisher_kind, "/publish", false);
    run->begin_ns = uw_clock_ns();
    if (run->workload->connects) {
        begin(run);
        return;
    }
    run->timer.expire = end_of_open;
    uw_timer_start(&run->loop, &run->timer, run->begin_ns + OPEN_NS);
    open_some(run);
}

static void print(const struct run *run)
{
    printf("messages %lu\nfailures %lu\nseconds %f\nbytes %lu\np50 %f\np99 %f\ncpu %f\n", run->messages, run->failures,
           (double)(run->end_ns - run->begin_ns) / 1e9, run->bytes, latencies_percentile(&run->latencies, 0.5),
           latencies_percentile(&run->latencies, 0.99), cpu_seconds() - run->begin_cpu);
    if (run->failure)
        printf("failure %s\n", run->failure);
    say("finished");
}

/* The connections stay as they are until standard input ends: closing them costs the server something. */
static void wait_for_reader(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    if (poll(&input, 1, READING_MS) < 0)
        perror("ws-load");
}

void run_all(struct run *run)
{
    open_all(run);
    while (!run->finished && uw_loop_turn(&run->loop, UW_FOREVER) >= 0)
        continue;
    print(run);
    wait_for_reader();
}
