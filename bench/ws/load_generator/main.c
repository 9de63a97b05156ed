/* A load generator for WebSockets and server-sent events, on the core's loop: see options.h. Prints figures by name,
 * "connected" before them and "finished" after, at which the server's may be read, and ends when its standard input
 * does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "load_run.h"

static const struct workload *const workloads[] = {&workload_echo, &workload_broadcast, &workload_events,
                                                   &workload_connects, &workload_idle};

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static const struct workload *workload_named(const char *name)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    fail("there is no such workload");
    return NULL;
}

static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        fail("the limit of descriptors is unknown");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        fail("the limit of descriptors cannot be raised");
}

int main(int argc, char **argv)
{
    static struct run run;

    run.options = options_read(argc, argv);
    run.workload = workload_named(run.options.workload);
    run.peers = calloc(run.options.clients, sizeof *run.peers);
    run.deflate = uw_deflate_new();
    if (!run.peers || !run.deflate)
        fail("no memory");
    allow_descriptors();
    if (uw_loop_open(&run.loop, getenv("BACKEND"), NULL))
        fail("no backend works here");
    run_all(&run);
    return EXIT_SUCCESS;
}
