/* How long a server runs: until it is told otherwise, by any thread or trap handler. */
#ifndef RB_UPWELL_CONTROL_H
#define RB_UPWELL_CONTROL_H

#include "server/server.h"

enum rb_uw_command {
    RB_UW_CONTINUE,
    RB_UW_DRAIN,
    RB_UW_STOP,
};

struct rb_uw_control {
    bool open;      /* there is a loop to be woken; changed while the interpreter's lock is held */
    unsigned forks; /* this process had been forked so often when it was opened */
    _Atomic(int) command;
    atomic_bool refuses; /* whoever connects once it drains */
    _Atomic(int64_t) drain_deadline_ns;
};

/* There is a loop from now on. */
void rb_uw_control_open(struct rb_uw_control *control);

/* `server` while it has a loop in this process, else NULL. With the interpreter's lock held it remains so. */
struct uw_server *rb_uw_control_server(const struct rb_uw_control *control, struct uw_server *server);

/* What the methods `drain` and `stop` do. They need the interpreter's lock. */
void rb_uw_control_drain(struct rb_uw_control *control, struct uw_server *server, double seconds, bool refuses);
void rb_uw_control_stop(struct rb_uw_control *control, struct uw_server *server);

/* Whether `server` is to take another turn, and for how long it may wait then. On the loop's thread. */
bool rb_uw_control_goes_on(struct rb_uw_control *control, struct uw_server *server);
int64_t rb_uw_control_wait_ns(struct rb_uw_control *control);

/* Whether it is told to end, and has time left to do so. */
bool rb_uw_control_drains(struct rb_uw_control *control);

#endif
