#include "rack/outcome.h"

#include "base/clock.h"

void rb_uw_outcome_begin(const struct rb_uw_delivery *delivery)
{
    if (delivery->rack_context->timed)
        delivery->core->outcome.begun_ns = uw_clock_ns();
}

static void note(const struct rb_uw_delivery *delivery, int status, uint64_t content_bytes)
{
    struct uw_outcome *outcome = &delivery->core->outcome;

    if (!delivery->rack_context->timed)
        return;
    outcome->status = status;
    outcome->content_bytes = (int64_t)content_bytes;
    outcome->ended_ns = uw_clock_ns();
}

void rb_uw_outcome_note(const struct rb_uw_rack_response *response, bool aborted)
{
    bool headless = aborted && !response->delivery->head_sent;

    note(response->delivery, headless ? 0 : response->head.status, response->head.written);
}

void rb_uw_outcome_note_hijack(const struct rb_uw_delivery *delivery)
{
    note(delivery, 0, 0);
}
