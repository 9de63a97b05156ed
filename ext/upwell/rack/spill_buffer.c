/* The buffered output of a response in mode inline whose client is slow: in memory, then in a file, until the client
 * has caught up or the response is complete. The loop's thread does not wait for one client, because other clients need
 * it. */
#include "rack/rack.h"

#define PATIENCE_NS (20 * UW_NS_PER_MS) /* for one response in all; a longer pause starts it again */
#define LOOK_NS UW_NS_PER_MS            /* the interval between checks of the client, */
#define COLLECTED_BYTES (64 * 1024)     /* unless so much is collected: it is buffered, and written to a file at once */
#define SPILL_BYTES_MAX (1024LL * 1024 * 1024)

/* Runs iterations of the loop; other events wait until the application has answered this request. After PATIENCE_NS
 * iterations continue only while data is being sent. */
static void *turn_until_drained(void *argument)
{
    struct rb_uw_exchange *exchange = argument;
    struct rb_uw_rack_context *rack_context = exchange->rack_context;
    int64_t began_ns = uw_clock_ns(), now_ns = began_ns, end_ns = began_ns + PATIENCE_NS - exchange->waited_ns;
    size_t left, outgoing = uw_request_outgoing(exchange->request);
    bool gets_on;

    do {
        left = outgoing;
        if (uw_server_turn(rack_context->server, now_ns < end_ns ? end_ns - now_ns : 0))
            break;
        now_ns = uw_clock_ns();
        outgoing = uw_request_outgoing(exchange->request);
        gets_on = outgoing < left && now_ns < began_ns + PATIENCE_NS;
    } while ((now_ns < end_ns || gets_on) && atomic_load(&exchange->request->await_drain));
    exchange->waited_ns += now_ns - began_ns;
    uw_loop_flush(&rack_context->server->server_context.loop); /* these sends do not wait for the application */
    return exchange;
}

static int64_t paused_ns(const struct rb_uw_exchange *exchange)
{
    return uw_clock_ns() - exchange->rack_context->flushed_ns;
}

void rb_uw_note_pause(struct rb_uw_exchange *exchange)
{
    if (paused_ns(exchange) > PATIENCE_NS)
        exchange->waited_ns = 0;
}

/* Exceptions of other threads and trap handlers run when the application continues. If one waits already, no iteration
 * runs. */
void rb_uw_spill_wait(struct rb_uw_exchange *exchange)
{
    struct rb_uw_rack_context *rack_context = exchange->rack_context;

    if (rb_nogvl(turn_until_drained, exchange, NULL, NULL, RB_NOGVL_INTR_FAIL))
        rack_context->busy_since_ns = rack_context->flushed_ns = uw_clock_ns();
    exchange->behind = atomic_exchange(&exchange->request->await_drain, false);
}

static void drop_chunk(struct rb_uw_exchange *exchange)
{
    uw_chunk_free(exchange->chunk);
    exchange->chunk = NULL;
}

/* The piece is missing, so no later piece may be sent. */
static void break_response(struct rb_uw_exchange *exchange)
{
    exchange->broken = true;
    drop_chunk(exchange);
    uw_spooled_body_free(&exchange->spill);
}

void rb_uw_refuse_broken(const struct rb_uw_exchange *exchange)
{
    if (exchange->broken)
        rb_raise(rb_eIOError, "response aborted: its output could not be stored for a slow client (mode inline); see "
                              "the error before this one");
}

static void spill_chunk(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk = exchange->chunk;
    int error;

    if (exchange->spill.length + uw_request_outgoing(exchange->request) + chunk->length > SPILL_BYTES_MAX) {
        break_response(exchange);
        rb_raise(rb_eIOError,
                 "response aborted: mode inline buffers at most %lld bytes for a slow client; use mode fibers "
                 "or threads:N, where the response waits for the client",
                 SPILL_BYTES_MAX);
    }
    error = uw_spooled_body_append(&exchange->spill, chunk->bytes, chunk->length, 0,
                                   exchange->rack_context->spill_memory_bytes_max);
    if (error) {
        break_response(exchange);
        rb_syserr_fail(-error, "cannot store the response for a slow client in the temporary directory (TMPDIR)");
    }
    chunk->length = 0;
}

static struct uw_chunk *chunk_of_spill(struct uw_spooled_body *spill)
{
    struct uw_chunk *chunk;

    if (spill->fd < 0)
        return uw_chunk_copy(spill->memory, (size_t)spill->length);
    chunk = uw_chunk_new(0);
    if (!chunk)
        return NULL;
    uw_chunk_add_file(chunk, spill->fd, 0, (int64_t)spill->length);
    spill->fd = -1; /* the chunk owns the descriptor */
    return chunk;
}

void rb_uw_spill_send(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk;

    if (!exchange->spill.length)
        return;
    chunk = chunk_of_spill(&exchange->spill);
    if (!chunk)
        rb_memerror();
    uw_spooled_body_free(&exchange->spill);
    rb_uw_hand_over(exchange, chunk);
}

bool rb_uw_is_spilling(const struct rb_uw_exchange *exchange)
{
    return exchange->behind || exchange->spill.length;
}

static bool has_collected(const struct rb_uw_exchange *exchange)
{
    return exchange->chunk && exchange->chunk->length >= COLLECTED_BYTES;
}

bool rb_uw_spill_drain(struct rb_uw_exchange *exchange, bool asked)
{
    if (!asked && !has_collected(exchange) && paused_ns(exchange) < LOOK_NS)
        return false;
    exchange->behind = false;
    rb_uw_await_drain(exchange);
    if (!exchange->behind)
        rb_uw_spill_send(exchange);
    else if (has_collected(exchange))
        spill_chunk(exchange);
    return !exchange->behind;
}
