/* One publishes messages that begin with the time; all subscribers are to get each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "websocket_message.h"
#include "load_run.h"
#include "message_text.h"

#define TIME_DIGITS 16
#define REST_NS (2 * UW_NS_PER_SECOND) /* for what is on its way when the seconds are over */

static char *message, *frame;
static uint64_t published, delivered;
static struct uw_timer tick;

static bool is_due(const struct run *run)
{
    const struct options *options = &run->options;
    int64_t elapsed = uw_clock_ns() - run->begin_ns;

    if (published * options->clients >= delivered + (uint64_t)options->window * options->clients)
        return false;
    return !options->every_ms || published <= (uint64_t)(elapsed / ((int64_t)options->every_ms * UW_NS_PER_MS));
}

static void write_time(void)
{
    char digits[TIME_DIGITS + 1];

    snprintf(digits, sizeof digits, "%016" PRIx64, (uint64_t)uw_clock_ns());
    for (size_t i = 0; i < TIME_DIGITS; i++)
        message[i] = digits[i];
}

static void publish_what_is_due(struct run *run)
{
    struct peer *publisher = &run->publisher;

    if (run->over || publisher->state != PEER_OPEN || publisher->send.pending || !is_due(run))
        return;
    published++;
    write_time();
    peer_send(publisher, frame, message_of_text(frame, message, run->options.bytes));
}

static void tick_expired(struct uw_loop *loop, struct uw_timer *timer)
{
    struct run *run = uw_container_of(loop, struct run, loop);

    publish_what_is_due(run);
    uw_timer_start(loop, timer, uw_clock_ns() + UW_NS_PER_MS);
}

static void publisher_sent(struct peer *peer)
{
    publish_what_is_due(peer->run);
}

static void opened(struct peer *peer)
{
    run_opened(peer->run);
}

static int64_t time_of(const char *bytes)
{
    char digits[TIME_DIGITS + 1] = {0};

    for (size_t i = 0; i < TIME_DIGITS; i++)
        digits[i] = bytes[i];
    return (int64_t)strtoull(digits, NULL, 16);
}

static bool is_all_delivered(const struct run *run)
{
    return delivered == published * run->options.clients;
}

static void received(struct peer *peer, const char *bytes, size_t length)
{
    struct run *run = peer->run;
    int64_t now = uw_clock_ns(), sent = length == run->options.bytes ? time_of(bytes) : 0;

    if (sent < run->begin_ns || sent > now || bytes[length - 1] != message[length - 1]) {
        peer_fail(peer, "what comes is not what was published");
        return;
    }
    delivered++;
    run_count(run, now - sent);
    if (run->over && is_all_delivered(run))
        run_finish(run);
    else
        publish_what_is_due(run);
}

static void publisher_received(struct peer *peer, const char *bytes, size_t length)
{
    (void)peer, (void)bytes, (void)length; /* of servers that send it to all */
}

static void closed(struct peer *peer)
{
    (void)peer; /* has been counted */
}

static const struct peer_kind publisher_kind = {
    .opened = opened, .received = publisher_received, .sent = publisher_sent, .closed = closed};

static void begin(struct run *run)
{
    message = malloc(run->options.bytes);
    frame = malloc(run->options.bytes + MESSAGE_OVERHEAD);
    if (!message || !frame)
        abort();
    text_fill(message, run->options.bytes);
    if (run->options.every_ms) {
        tick.expire = tick_expired;
        uw_timer_start(&run->loop, &tick, run->begin_ns);
    }
    publish_what_is_due(run);
}

/* What is lost is told by the figures: messages that were not delivered to some. */
static void rest_expired(struct uw_loop *loop, struct uw_timer *timer)
{
    struct run *run = uw_container_of(timer, struct run, timer);

    (void)loop;
    run->failure = run->failure ? run->failure : "not all that was published has been delivered";
    run->failures += published * run->options.clients - delivered;
    run_finish(run);
}

static void end(struct run *run)
{
    if (is_all_delivered(run)) {
        run_finish(run);
        return;
    }
    run->timer.expire = rest_expired;
    uw_timer_start(&run->loop, &run->timer, uw_clock_ns() + REST_NS);
}

static const struct peer_kind kind = {.opened = opened, .received = received, .closed = closed};
const struct workload workload_broadcast = {
    .name = "broadcast", .kind = &kind, .path = "/all", .publisher_kind = &publisher_kind, .begin = begin, .end = end};
const struct workload workload_events = {.name = "events",
                                         .kind = &kind,
                                         .path = "/all",
                                         .event_stream = true,
                                         .publisher_kind = &publisher_kind,
                                         .begin = begin,
                                         .end = end};
