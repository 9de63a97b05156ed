#include "rack/response_stream.h"

#include "http/response_writer.h"
#include "rack/env_callables.h"
#include "rack/outcome.h"
#include "rack/spill_buffer.h"

void rb_uw_write(struct rb_uw_rack_response *response, VALUE piece)
{
    struct rb_uw_delivery *delivery = response->delivery;
    struct uw_http_response *head = &response->head;

    Check_Type(piece, T_STRING);
    rb_uw_check_response(
        head, delivery->core->writer->piece(&delivery->chunk, head, RSTRING_PTR(piece), (size_t)RSTRING_LEN(piece)));
    RB_GC_GUARD(piece);
}

/* Returns the flags of the next chunk. */
static unsigned next_flags(const struct rb_uw_delivery *delivery)
{
    return delivery->head_sent ? 0 : delivery->head_flags;
}

static void hand_over_chunk(struct rb_uw_delivery *delivery)
{
    struct uw_chunk *chunk = delivery->chunk;

    delivery->chunk = NULL;
    if (chunk) {
        chunk->flags = next_flags(delivery);
        rb_uw_hand_over(delivery, chunk);
    }
    delivery->head_sent = true;
}

/* In mode inline the loop may have no other iteration before the end of the response. */
static bool is_urgent(const struct rb_uw_delivery *delivery)
{
    return delivery->rack_context->one_thread;
}

void rb_uw_flush(struct rb_uw_delivery *delivery, bool at_once)
{
    if (is_urgent(delivery))
        rb_uw_note_pause(delivery);
    if (rb_uw_is_spilling(delivery) && !rb_uw_spill_drain(delivery, at_once))
        return;
    hand_over_chunk(delivery);
    if (at_once || is_urgent(delivery))
        rb_uw_push(delivery);
    rb_uw_await_drain(delivery);
}

void rb_uw_finish(struct rb_uw_rack_response *response, unsigned flags)
{
    struct rb_uw_delivery *delivery = response->delivery;
    struct uw_chunk *chunk;

    if (!(flags & UW_CHUNK_ABORT))
        rb_uw_spill_send(delivery);
    chunk = delivery->chunk ? delivery->chunk : uw_chunk_new(0);
    if (!chunk)
        rb_memerror();
    delivery->chunk = NULL;
    rb_uw_end_callables(response->request); /* they know the request, which is another's soon */
    rb_uw_outcome_note(response, flags & UW_CHUNK_ABORT);
    chunk->flags = UW_CHUNK_FINISH | (response->head.keep_alive ? 0 : UW_CHUNK_CLOSE) | next_flags(delivery) | flags;
    rb_uw_hand_over(delivery, chunk);
}

void rb_uw_finish_whole(struct rb_uw_rack_response *response)
{
    struct rb_uw_delivery *delivery = response->delivery;

    rb_uw_refuse_broken(delivery);
    rb_uw_check_response(&response->head, delivery->core->writer->end(&delivery->chunk, &response->head));
    rb_uw_finish(response, 0);
}
