/* All connect, and wait for the seconds to be over, so that what the server has for them can be seen. */
#include "load_run.h"

static void opened(struct peer *peer)
{
    run_count(peer->run, uw_clock_ns() - peer->since_ns);
    run_opened(peer->run);
}

static void received(struct peer *peer, const char *bytes, size_t length)
{
    (void)bytes, (void)length;
    peer_fail(peer, "a message comes unasked");
}

static void closed(struct peer *peer)
{
    (void)peer; /* has been counted */
}

static void begin(struct run *run)
{
    (void)run;
}

static const struct peer_kind kind = {.opened = opened, .received = received, .closed = closed};
const struct workload workload_idle = {
    .name = "idle", .kind = &kind, .path = "/all", .begin = begin, .end = run_finish};
