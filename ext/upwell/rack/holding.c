/* What a response in mode inline is ahead of its client: held in memory, and then in a file, until the client has
 * caught up or the response is complete. The loop's thread waits for no client: others want it. */
#include "rack/rack.h"

#define PATIENCE_NS (20 * UW_NS_PER_MS) /* for one response altogether, and anew whenever it pauses for longer */
#define LOOK_NS UW_NS_PER_MS            /* the client is looked after no more often, */
#define COLLECTED_BYTES (64 * 1024)     /* but for so much, which then is held, and written to a file at once */
#define HELD_BYTES_MAX (1024LL * 1024 * 1024)

/* Turns of the loop, whose other events wait until the application has answered this request. Without patience: as many
 * as find something sent. */
static void *turn_until_drained(void *argument)
{
    struct rb_uw_exchange *exchange = argument;
    struct rb_uw_host *host = exchange->host;
    int64_t began_ns = uw_clock_ns(), now_ns = began_ns, end_ns = began_ns + PATIENCE_NS - exchange->waited_ns;
    size_t left, outgoing = uw_request_outgoing(exchange->request);
    bool gets_on;

    do {
        left = outgoing;
        if (uw_server_turn(host->server, now_ns < end_ns ? end_ns - now_ns : 0))
            break;
        now_ns = uw_clock_ns();
        outgoing = uw_request_outgoing(exchange->request);
        gets_on = outgoing < left && now_ns < began_ns + PATIENCE_NS;
    } while ((now_ns < end_ns || gets_on) && atomic_load(&exchange->request->await_drain));
    exchange->waited_ns += now_ns - began_ns;
    uw_loop_flush(&host->server->service.loop); /* what the turns have begun does not wait for the application */
    return exchange;
}

static int64_t paused_ns(const struct rb_uw_exchange *exchange)
{
    return uw_clock_ns() - exchange->host->flushed_ns;
}

void rb_uw_note_pause(struct rb_uw_exchange *exchange)
{
    if (paused_ns(exchange) > PATIENCE_NS)
        exchange->waited_ns = 0;
}

/* What others raise, and trap handlers, come when the application goes on; if they wait already, no turn is taken. */
void rb_uw_hold_back(struct rb_uw_exchange *exchange)
{
    struct rb_uw_host *host = exchange->host;

    if (rb_nogvl(turn_until_drained, exchange, NULL, NULL, RB_NOGVL_INTR_FAIL))
        host->busy_since_ns = host->flushed_ns = uw_clock_ns();
    exchange->behind = atomic_exchange(&exchange->request->await_drain, false);
}

static void drop_chunk(struct rb_uw_exchange *exchange)
{
    uw_chunk_free(exchange->chunk);
    exchange->chunk = NULL;
}

/* The piece is lost, and what came after it must not pass for it. */
static void break_response(struct rb_uw_exchange *exchange)
{
    exchange->broken = true;
    drop_chunk(exchange);
    uw_body_free(&exchange->held);
}

void rb_uw_refuse_broken(const struct rb_uw_exchange *exchange)
{
    if (exchange->broken)
        rb_raise(rb_eIOError, "the response is cut: what it was ahead of its client could not be held");
}

static void hold(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk = exchange->chunk;
    int error;

    if (exchange->held.length + uw_request_outgoing(exchange->request) + chunk->length > HELD_BYTES_MAX) {
        break_response(exchange);
        rb_raise(rb_eIOError,
                 "the response is %lld bytes ahead of its client, and mode inline holds no more: use mode "
                 "fibers or threads:N, where it waits for the client",
                 HELD_BYTES_MAX);
    }
    error = uw_body_append(&exchange->held, chunk->bytes, chunk->length, 0, exchange->host->held_memory_bytes_max);
    if (error) {
        break_response(exchange);
        rb_syserr_fail(-error, "holding what the response is ahead of its client");
    }
    chunk->length = 0;
}

static struct uw_chunk *chunk_of_held(struct uw_body *held)
{
    struct uw_chunk *chunk;

    if (held->fd < 0)
        return uw_chunk_copy(held->memory, (size_t)held->length);
    chunk = uw_chunk_new(0);
    if (!chunk)
        return NULL;
    uw_chunk_add_file(chunk, held->fd, 0, (int64_t)held->length);
    held->fd = -1; /* it is the chunk's */
    return chunk;
}

void rb_uw_hand_over_held(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk;

    if (!exchange->held.length)
        return;
    chunk = chunk_of_held(&exchange->held);
    if (!chunk)
        rb_memerror();
    uw_body_free(&exchange->held);
    rb_uw_hand_over(exchange, chunk);
}

bool rb_uw_is_ahead(const struct rb_uw_exchange *exchange)
{
    return exchange->behind || exchange->held.length;
}

static bool has_collected(const struct rb_uw_exchange *exchange)
{
    return exchange->chunk && exchange->chunk->length >= COLLECTED_BYTES;
}

bool rb_uw_catch_up(struct rb_uw_exchange *exchange, bool asked)
{
    if (!asked && !has_collected(exchange) && paused_ns(exchange) < LOOK_NS)
        return false;
    exchange->behind = false;
    rb_uw_await_drain(exchange);
    if (!exchange->behind)
        rb_uw_hand_over_held(exchange);
    else if (has_collected(exchange))
        hold(exchange);
    return !exchange->behind;
}
