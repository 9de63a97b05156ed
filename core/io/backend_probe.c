#include "io/backend.h"

static void note_expiry(struct uw_loop *loop, struct uw_timer *timer)
{
    (void)loop;
    (void)timer;
}

int uw_backend_probe(const struct uw_backend *backend)
{
    struct uw_loop loop;
    int error = uw_loop_open(&loop, backend->name, note_expiry);

    if (error)
        return error;
    uw_loop_wake(&loop);
    error = uw_loop_turn(&loop, UW_NS_PER_SECOND);
    uw_loop_close(&loop);
    return error;
}
