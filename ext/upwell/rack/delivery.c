#include "rack/delivery.h"

#include <errno.h>

#define PUSH_NS (20 * UW_NS_PER_MS) /* for a client that receives everything at once: others need the loop, too */

void rb_uw_hand_over(struct rb_uw_delivery *delivery, struct uw_chunk *chunk)
{
    struct rb_uw_rack_context *rack_context = delivery->rack_context;
    struct uw_request *core = delivery->core;

    if (rb_uw_rack_context_is_copy(rack_context))
        uw_chunk_free(chunk);
    rb_uw_refuse_copy(rack_context);
    if (chunk->flags & UW_CHUNK_FINISH) {
        delivery->client_gone = atomic_load(&core->client_gone);
        delivery->core = NULL;
    }
    rb_uw_rack_context_calls(rack_context)->send(core, chunk);
}

/* Each iteration finds out how much has been sent, and sends the next part. */
void rb_uw_push(struct rb_uw_delivery *delivery)
{
    struct rb_uw_rack_context *rack_context = delivery->rack_context;
    int64_t end_ns;
    size_t left, outgoing;

    if (!rb_uw_rack_context_turns_here(rack_context))
        return;
    end_ns = uw_clock_ns() + PUSH_NS;
    outgoing = uw_request_outgoing(delivery->core);
    do {
        left = outgoing;
        rb_uw_rack_context_flush(rack_context);
        outgoing = uw_request_outgoing(delivery->core);
    } while (outgoing && outgoing < left && rack_context->flushed_ns < end_ns);
}

static void raise_if_left(const struct rb_uw_delivery *delivery)
{
    if (atomic_load(&delivery->core->client_gone))
        rb_syserr_fail(EPIPE, "the client disconnected");
}

void rb_uw_await_drain(struct rb_uw_delivery *delivery)
{
    rb_uw_refuse_copy(delivery->rack_context);
    raise_if_left(delivery);
    if (!uw_request_await_drain(delivery->core))
        return;
    rb_uw_rack_context_calls(delivery->rack_context)->await_drain(delivery);
    raise_if_left(delivery);
}

void rb_uw_drop_chunk(struct rb_uw_delivery *delivery)
{
    if (delivery->chunk)
        uw_chunk_free(delivery->chunk);
    delivery->chunk = NULL;
}
