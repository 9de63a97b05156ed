/* The commands that end a server, from any thread or trap handler. */
#ifndef RB_UPWELL_SHUTDOWN_CONTROL_H
#define RB_UPWELL_SHUTDOWN_CONTROL_H

#include "server/server.h"

enum rb_uw_command {
    RB_UW_CONTINUE,
    RB_UW_ANNOUNCE_DRAIN,
    RB_UW_DRAIN,
    RB_UW_STOP,
};

struct rb_uw_shutdown_control {
    bool open;      /* a loop exists; changed with the interpreter's lock */
    unsigned forks; /* this process had been forked so often when it was opened */
    _Atomic(int) command;
    atomic_bool refuses; /* refuses new clients during draining */
    _Atomic(int64_t) drain_deadline_ns;
};

/* The loop exists from now on. */
void rb_uw_shutdown_control_open(struct rb_uw_shutdown_control *control);

/* `server` while it has a loop in this process, else NULL. It does not change while the caller has the interpreter's
 * lock. */
struct uw_server *rb_uw_shutdown_control_server(const struct rb_uw_shutdown_control *control, struct uw_server *server);

/* The work of the methods `announce_drain`, `drain` and `stop`. They need the interpreter's lock. */
void rb_uw_shutdown_control_announce_drain(struct rb_uw_shutdown_control *control, struct uw_server *server);
void rb_uw_shutdown_control_drain(struct rb_uw_shutdown_control *control, struct uw_server *server, double seconds,
                                  bool refuses);
void rb_uw_shutdown_control_stop(struct rb_uw_shutdown_control *control, struct uw_server *server);

/* Whether `server` must run another iteration, and how long this may wait. On the loop's thread. */
bool rb_uw_shutdown_control_goes_on(struct rb_uw_shutdown_control *control, struct uw_server *server);
int64_t rb_uw_shutdown_control_wait_ns(struct rb_uw_shutdown_control *control);

/* Whether the server drains, and its time is not over. */
bool rb_uw_shutdown_control_drains(struct rb_uw_shutdown_control *control);

#endif
