/* What a response in mode inline is ahead of its client: held in memory, and then in a file, until the client has
 * caught up or the response is complete. The loop's thread waits for no client: others want it. */
#include "reactor.h"
#include "server/connection.h"

#define PATIENCE_NS (20 * UW_NS_PER_MS) /* for one response altogether */
#define COLLECTED_BYTES (64 * 1024)     /* before the client is looked after again, and a file written to */
#define HELD_BYTES_MAX (1024LL * 1024 * 1024)

/* Turns of the loop, whose other events wait until the application has answered this request. */
static void *turn_until_drained(void *argument)
{
    struct rb_uw_exchange *exchange = argument;
    int64_t now_ns = uw_clock_ns(), end_ns = now_ns + PATIENCE_NS - exchange->waited_ns, began_ns = now_ns;

    do {
        if (uw_server_turn(&exchange->reactor->server, now_ns < end_ns ? end_ns - now_ns : 0))
            break;
        now_ns = uw_clock_ns();
    } while (now_ns < end_ns && atomic_load(&exchange->request->await_drain));
    exchange->waited_ns += now_ns - began_ns;
    uw_loop_flush(&exchange->reactor->server.loop); /* what the turns have begun does not wait for the application */
    return NULL;
}

/* What others raise, and trap handlers, come when the application goes on; if they wait already, no turn is taken. */
void rb_uw_hold_back(struct rb_uw_exchange *exchange)
{
    rb_nogvl(turn_until_drained, exchange, NULL, NULL, RB_NOGVL_INTR_FAIL);
    exchange->behind = atomic_exchange(&exchange->request->await_drain, false);
}

/* One whose write fails has the piece still, and nothing of it is held. */
static void hold(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk = exchange->chunk;
    size_t outgoing = atomic_load(&exchange->request->connection->outgoing_bytes);
    int error;

    if (exchange->held.length + outgoing + chunk->length > HELD_BYTES_MAX)
        rb_raise(rb_eIOError,
                 "the response is %lld bytes ahead of its client, and mode inline holds no more: use mode "
                 "fibers or threads:N, where it waits for the client",
                 HELD_BYTES_MAX);
    error = uw_body_append(&exchange->held, chunk->bytes, chunk->length, 0,
                           exchange->reactor->settings.body_memory_bytes_max);
    if (error)
        rb_syserr_fail(-error, "holding what the response is ahead of its client");
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

bool rb_uw_catch_up(struct rb_uw_exchange *exchange)
{
    if (!exchange->chunk || exchange->chunk->length < COLLECTED_BYTES)
        return false;
    exchange->behind = false;
    rb_uw_await_drain(exchange);
    if (exchange->behind)
        hold(exchange);
    else
        rb_uw_hand_over_held(exchange);
    return !exchange->behind;
}
