/* What the access log says of a response. Without a log nothing is noted. */
#include "base/clock.h"
#include "rack/rack.h"

void rb_uw_outcome_begin(struct rb_uw_exchange *exchange)
{
    if (exchange->rack_context->logged)
        exchange->request->outcome.begun_ns = uw_clock_ns();
}

/* A response that is aborted before its head was sent has no status. */
void rb_uw_outcome_note(struct rb_uw_exchange *exchange, bool aborted)
{
    struct uw_outcome *outcome = &exchange->request->outcome;

    if (!exchange->rack_context->logged)
        return;
    outcome->status = aborted && !exchange->head_sent ? 0 : exchange->response.status;
    outcome->content_bytes = (int64_t)exchange->response.written;
    outcome->ended_ns = uw_clock_ns();
}
