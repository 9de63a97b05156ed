/* The end of a server: at once, or when what is in flight is done. */
#include "server/control.h"

#include "base/forks.h"

void rb_uw_control_open(struct rb_uw_control *control)
{
    control->forks = atomic_load(&rb_uw_forks);
    control->open = true;
}

/* Of this process: a child that has been forked shares loop and listening sockets with its parent, which goes on. */
static bool has_loop(const struct rb_uw_control *control)
{
    return control->open && !rb_uw_forked_since(control->forks);
}

struct uw_server *rb_uw_control_server(const struct rb_uw_control *control, struct uw_server *server)
{
    return has_loop(control) ? server : NULL;
}

static void give(struct rb_uw_control *control, struct uw_server *server, enum rb_uw_command command)
{
    atomic_store(&control->command, command);
    if (has_loop(control))
        uw_loop_wake(&server->service.loop);
}

void rb_uw_control_drain(struct rb_uw_control *control, struct uw_server *server, double seconds, bool refuses)
{
    if (refuses) {
        atomic_store(&control->refuses, true);
        if (has_loop(control)) /* now, and not when the application lets go of the loop's thread */
            uw_server_end_listening(server);
    }
    atomic_store(&control->drain_deadline_ns, uw_clock_ns() + (int64_t)(seconds * (double)UW_NS_PER_SECOND));
    if (atomic_load(&control->command) != RB_UW_STOP)
        give(control, server, RB_UW_DRAIN);
}

void rb_uw_control_stop(struct rb_uw_control *control, struct uw_server *server)
{
    give(control, server, RB_UW_STOP);
}

/* The server takes at least one more turn: what end_listening has posted arrives. Clients that stay leave in the first
 * half of the time, so that there is some left for what they say last. */
static void begin_to_drain(struct rb_uw_control *control, struct uw_server *server)
{
    if (atomic_load(&control->refuses)) /* it may not have been open when it was told */
        uw_server_end_listening(server);
    atomic_store(&server->service.leaving_ns, rb_uw_control_wait_ns(control) / 2);
    uw_server_drain(server);
}

static bool still_drains(struct rb_uw_control *control, struct uw_server *server)
{
    if (!atomic_load(&server->service.draining))
        begin_to_drain(control, server);
    return !uw_server_drained(server) && rb_uw_control_wait_ns(control) > 0;
}

bool rb_uw_control_goes_on(struct rb_uw_control *control, struct uw_server *server)
{
    int command = atomic_load(&control->command);

    return command == RB_UW_CONTINUE || (command == RB_UW_DRAIN && still_drains(control, server));
}

bool rb_uw_control_drains(struct rb_uw_control *control)
{
    return atomic_load(&control->command) == RB_UW_DRAIN && rb_uw_control_wait_ns(control) > 0;
}

int64_t rb_uw_control_wait_ns(struct rb_uw_control *control)
{
    int64_t left_ns;

    if (atomic_load(&control->command) != RB_UW_DRAIN)
        return UW_FOREVER;
    left_ns = atomic_load(&control->drain_deadline_ns) - uw_clock_ns();
    return left_ns > 0 ? left_ns : 0;
}
