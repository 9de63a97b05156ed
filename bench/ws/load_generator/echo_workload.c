/* Each client has one message on its way, which is to come back as it was. */
#include <stdlib.h>
#include <string.h>

#include "websocket_message.h"
#include "load_run.h"
#include "message_text.h"

static char *message, *frame;
static size_t frame_bytes;

static void send_one(struct peer *peer)
{
    peer->since_ns = uw_clock_ns();
    peer_send(peer, frame, frame_bytes);
}

static void opened(struct peer *peer)
{
    run_opened(peer->run);
}

static void received(struct peer *peer, const char *bytes, size_t length)
{
    struct run *run = peer->run;

    if (run->over)
        return;
    if (length != run->options.bytes || memcmp(bytes, message, length) != 0) {
        peer_fail(peer, "another message comes back");
        return;
    }
    run_count(run, uw_clock_ns() - peer->since_ns);
    send_one(peer);
}

static void closed(struct peer *peer)
{
    (void)peer; /* has been counted */
}

/* The same of every client. */
static void make_frame(struct run *run)
{
    size_t bytes = run->options.bytes;
    char *deflated = NULL;
    long length;

    message = malloc(bytes);
    frame = malloc(bytes + MESSAGE_OVERHEAD);
    if (!message || !frame)
        abort();
    text_fill(message, bytes);
    length = run->options.compressed ? uw_deflate_compress(run->deflate, 15, message, bytes, &deflated) : -1;
    frame_bytes =
        length < 0 ? message_of_text(frame, message, bytes) : message_of_deflated_text(frame, deflated, (size_t)length);
}

static void begin(struct run *run)
{
    make_frame(run);
    for (unsigned i = 0; i < run->options.clients; i++)
        send_one(&run->peers[i]);
}

static const struct peer_kind kind = {.opened = opened, .received = received, .closed = closed};
const struct workload workload_echo = {
    .name = "echo", .kind = &kind, .path = "/echo", .begin = begin, .end = run_finish};
