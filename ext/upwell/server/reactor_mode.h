/* The interface of a mode, which decides where the application runs. */
#ifndef RB_UPWELL_REACTOR_MODE_H
#define RB_UPWELL_REACTOR_MODE_H

#include "rack/rack_context.h"
#include "server/listening_sockets.h"

struct rb_uw_reactor;

/* The functions that differ between the modes. */
struct rb_uw_mode {
    const char *name;
    struct rb_uw_rack_context_calls calls;
    bool one_thread; /* see rb_uw_rack_context */
    bool drains;     /* requests that have their response are waited for, too, while the server drains */

    /* The size of the mode's state in reactor->mode_state, which is zero at first. Functions that a mode does not need
     * are NULL. */
    size_t own_bytes;
    void (*init)(struct rb_uw_reactor *reactor, VALUE settings);
    void (*mark)(const void *mode_state);
    void (*compact)(void *mode_state);
    void (*free)(struct rb_uw_reactor *reactor);

    void (*notify)(void *reactor, struct uw_request *request, enum uw_event event);
    /* Opens the server on the thread that will run its loop. Returns 0 or -errno; control.open tells whether `close`
     * must follow all the same. */
    int (*open)(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                long count);
    /* Serves until the server drains or stops. */
    VALUE (*run)(VALUE reactor);
    /* Ends all current work. */
    void (*close)(struct rb_uw_reactor *reactor);
    /* Whether the loop has work for the application. */
    bool (*brought)(const struct rb_uw_reactor *reactor);

    /* Serves on the calling thread until the reactor has ended. */
    void (*work)(struct rb_uw_reactor *reactor);
    size_t (*queued)(const struct rb_uw_reactor *reactor);
    size_t (*fibers)(const struct rb_uw_reactor *reactor);
};

#endif
