/* A response during sending: its pieces are framed and handed over as they come. */
#include "http/response_writer.h"
#include "rack/rack.h"

void rb_uw_write(struct rb_uw_exchange *exchange, VALUE piece)
{
    struct uw_http_response *response = &exchange->response;

    Check_Type(piece, T_STRING);
    rb_uw_check_response(response, exchange->request->writer->piece(&exchange->chunk, response, RSTRING_PTR(piece),
                                                                    (size_t)RSTRING_LEN(piece)));
    RB_GC_GUARD(piece);
}

/* Returns the flag of the next chunk. A hijacking application's framing is unknown. */
static unsigned framing_flag(const struct rb_uw_exchange *exchange)
{
    enum uw_http_framing framing = exchange->response.framing;
    bool to_close = framing == UW_FRAMING_TO_CLOSE || framing == UW_FRAMING_UNTOUCHED;

    return to_close && !exchange->head_sent ? UW_CHUNK_TO_CLOSE : 0;
}

static void hand_over_chunk(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *chunk = exchange->chunk;

    exchange->chunk = NULL;
    if (chunk) {
        chunk->flags = framing_flag(exchange);
        rb_uw_hand_over(exchange, chunk);
    }
    exchange->head_sent = true;
}

/* In mode inline the loop may have no other iteration before the end of the response. */
static bool is_urgent(const struct rb_uw_exchange *exchange)
{
    return exchange->rack_context->one_thread;
}

void rb_uw_flush(struct rb_uw_exchange *exchange, bool at_once)
{
    if (is_urgent(exchange))
        rb_uw_note_pause(exchange);
    if (rb_uw_is_spilling(exchange) && !rb_uw_spill_drain(exchange, at_once))
        return;
    hand_over_chunk(exchange);
    if (at_once || is_urgent(exchange))
        rb_uw_push(exchange);
    rb_uw_await_drain(exchange);
}

void rb_uw_finish(struct rb_uw_exchange *exchange, unsigned flags)
{
    struct uw_chunk *chunk;

    if (!(flags & UW_CHUNK_ABORT))
        rb_uw_spill_send(exchange);
    chunk = exchange->chunk ? exchange->chunk : uw_chunk_new(0);
    if (!chunk)
        rb_memerror();
    exchange->chunk = NULL;
    rb_uw_end_callables(exchange); /* they know the request, which is another's soon */
    rb_uw_outcome_note(exchange, flags & UW_CHUNK_ABORT);
    chunk->flags =
        UW_CHUNK_FINISH | (exchange->response.keep_alive ? 0 : UW_CHUNK_CLOSE) | framing_flag(exchange) | flags;
    rb_uw_hand_over(exchange, chunk);
}

void rb_uw_finish_whole(struct rb_uw_exchange *exchange)
{
    rb_uw_refuse_broken(exchange);
    rb_uw_check_response(&exchange->response, exchange->request->writer->end(&exchange->chunk, &exchange->response));
    rb_uw_finish(exchange, 0);
}
