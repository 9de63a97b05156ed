/* The end of a server: at once, or after requests in flight. */
#include "server/shutdown_control.h"

#include "base/after_fork.h"

void rb_uw_shutdown_control_open(struct rb_uw_shutdown_control *control)
{
    control->forks = atomic_load(&rb_uw_forks);
    control->open = true;
}

/* Whether the loop belongs to this process. A forked child shares the loop and listening sockets with its parent, which
 * continues. */
static bool has_loop(const struct rb_uw_shutdown_control *control)
{
    return control->open && !rb_uw_forked_since(control->forks);
}

struct uw_server *rb_uw_shutdown_control_server(const struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    return has_loop(control) ? server : NULL;
}

static void give(struct rb_uw_shutdown_control *control, struct uw_server *server, enum rb_uw_command command)
{
    atomic_store(&control->command, command);
    if (has_loop(control))
        uw_loop_wake(&server->server_context.loop);
}

/* The responses of an application that occupies the loop's thread end their connections, too. */
void rb_uw_shutdown_control_announce_drain(struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    int before = RB_UW_CONTINUE;

    if (atomic_compare_exchange_strong(&control->command, &before, RB_UW_ANNOUNCE_DRAIN) && has_loop(control))
        uw_server_announce_drain(server);
}

void rb_uw_shutdown_control_drain(struct rb_uw_shutdown_control *control, struct uw_server *server, double seconds,
                                  bool refuses)
{
    if (refuses) {
        atomic_store(&control->refuses, true);
        if (has_loop(control)) /* now, and not when the application lets go of the loop's thread */
            uw_server_close_listeners(server);
    }
    atomic_store(&control->drain_deadline_ns, uw_clock_ns() + (int64_t)(seconds * (double)UW_NS_PER_SECOND));
    if (atomic_load(&control->command) != RB_UW_STOP)
        give(control, server, RB_UW_DRAIN);
}

void rb_uw_shutdown_control_stop(struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    give(control, server, RB_UW_STOP);
}

/* At least one more iteration follows, so a post of uw_server_close_listeners arrives. Long-lived clients are closed in
 * the first half of the time. The second half is for their last messages. */
static void begin_to_drain(struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    if (atomic_load(&control->refuses)) /* the command may have come before the server was open */
        uw_server_close_listeners(server);
    atomic_store(&server->server_context.drain_spread_ns, rb_uw_shutdown_control_wait_ns(control) / 2);
    uw_server_drain(server);
}

static bool still_drains(struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    if (!atomic_load(&server->server_context.draining))
        begin_to_drain(control, server);
    return !uw_server_drained(server) && rb_uw_shutdown_control_wait_ns(control) > 0;
}

bool rb_uw_shutdown_control_goes_on(struct rb_uw_shutdown_control *control, struct uw_server *server)
{
    switch (atomic_load(&control->command)) {
    case RB_UW_CONTINUE:
        return true;
    case RB_UW_ANNOUNCE_DRAIN:
        uw_server_announce_drain(server); /* the command may have come before the server was open */
        return true;
    case RB_UW_DRAIN:
        return still_drains(control, server);
    default:
        return false;
    }
}

bool rb_uw_shutdown_control_drains(struct rb_uw_shutdown_control *control)
{
    return atomic_load(&control->command) == RB_UW_DRAIN && rb_uw_shutdown_control_wait_ns(control) > 0;
}

int64_t rb_uw_shutdown_control_wait_ns(struct rb_uw_shutdown_control *control)
{
    int64_t left_ns;

    if (atomic_load(&control->command) != RB_UW_DRAIN)
        return UW_FOREVER;
    left_ns = atomic_load(&control->drain_deadline_ns) - uw_clock_ns();
    return left_ns > 0 ? left_ns : 0;
}
