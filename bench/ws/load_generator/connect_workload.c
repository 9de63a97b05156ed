/* Each client connects, shakes hands, and closes, again and again. */
#include "load_run.h"

static void opened(struct peer *peer)
{
    peer_close(peer);
}

static void received(struct peer *peer, const char *bytes, size_t length)
{
    (void)bytes, (void)length;
    peer_fail(peer, "a message comes unasked");
}

/* By its own close frame and the server's. */
static void closed(struct peer *peer)
{
    struct run *run = peer->run;

    if (run->over)
        return;
    if (peer->closing)
        run_count(run, uw_clock_ns() - peer->since_ns);
    peer_open(peer);
}

static void begin(struct run *run)
{
    for (unsigned i = 0; i < run->options.clients; i++)
        peer_open(&run->peers[i]);
}

static const struct peer_kind kind = {.opened = opened, .received = received, .closed = closed};
const struct workload workload_connects = {
    .name = "connects", .kind = &kind, .path = "/echo", .connects = true, .begin = begin, .end = run_finish};
