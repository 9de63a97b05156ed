/* One run: so many clients connect, the workload has them work for its seconds, and figures are printed by name. */
#ifndef BENCH_LOAD_RUN_H
#define BENCH_LOAD_RUN_H

#include "compression/deflate.h"
#include "io/loop.h"
#include "latencies.h"
#include "options.h"
#include "websocket_or_sse_client.h"

struct run;

struct workload {
    const char *name;
    const struct peer_kind *kind; /* of each client */
    const char *path;
    bool event_stream;                      /* the clients are no WebSockets */
    bool connects;                          /* they connect as a part of it, not before */
    const struct peer_kind *publisher_kind; /* of one more, or NULL */
    void (*begin)(struct run *run);         /* all are connected */
    void (*end)(struct run *run);           /* the seconds are over: it calls run_finish, soon */
};

struct run {
    struct options options;
    const struct workload *workload;
    struct uw_loop loop;
    struct uw_timer timer; /* the end of what goes on */
    struct uw_deflate *deflate;
    struct peer *peers;
    struct peer publisher;
    unsigned opening, opened; /* clients that connect, and have connected */
    int64_t begin_ns, end_ns;
    double begin_cpu;
    bool begun, over, finished;
    uint64_t messages, failures;
    uint64_t bytes;      /* received of the server */
    const char *failure; /* the first */
    struct latencies latencies;
};

extern const struct workload workload_echo, workload_broadcast, workload_events, workload_connects, workload_idle;

void run_all(struct run *run);

/* A client of the run is ready. */
void run_opened(struct run *run);

/* Counts it; before the workload has begun it ends the program. */
void run_fail(struct run *run, const char *failure);

void run_finish(struct run *run);

/* One message, or whatever is counted, that took so long. */
static inline void run_count(struct run *run, int64_t ns)
{
    run->messages++;
    latencies_add(&run->latencies, ns);
}

#endif
