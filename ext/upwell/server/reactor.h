/* Upwell::Reactor, for its own files: the common part. Each mode has a file that decides where the application runs. */
#ifndef RB_UPWELL_REACTOR_H
#define RB_UPWELL_REACTOR_H

#include "bus/bus.h"
#include "rack/rack_context.h"
#include "server/channel_events.h"
#include "server/loop_server_class.h"
#include "server/reactor_mode.h"
#include "server/static_settings.h"

/* Upwell::Reactor: a server of the core with an application. */
struct rb_uw_reactor {
    struct rb_uw_loop_server base;
    struct rb_uw_rack_context rack_context;
    const struct rb_uw_mode *mode;
    void *mode_state;                             /* the mode's */
    struct rb_uw_static_settings public_settings; /* without a root: the application answers every request */
    struct uw_static files;                       /* of the public directory */
    bool has_files;                               /* `files` is open */
    char *bus_folder;                             /* NULL without other processes */
    struct uw_bus bus;                            /* zero until it is open */
    struct rb_uw_channels channels;
    bool dont_wait;  /* the next iteration must not wait */
    atomic_int busy; /* requests being served by a worker, or on a fiber */
};

VALUE rb_uw_reactor_allocate(VALUE class);
struct rb_uw_reactor *rb_uw_reactor(VALUE self);

static inline struct rb_uw_reactor *rb_uw_reactor_of(struct rb_uw_rack_context *rack_context)
{
    return uw_container_of(rack_context, struct rb_uw_reactor, rack_context);
}

static inline bool rb_uw_reactor_is_copy(const struct rb_uw_reactor *reactor)
{
    return rb_uw_rack_context_is_copy(&reactor->rack_context);
}

/* Opens the server on this thread. Returns 0 or -errno. */
int rb_uw_reactor_open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                       long count);

/* Whether work remains. False in the child that a trap handler has forked. */
bool rb_uw_reactor_goes_on(struct rb_uw_reactor *reactor);

/* Runs iterations of the loop on its thread, without the interpreter's lock, until one has work for the application, or
 * the loop is woken. The argument is the reactor. */
void *rb_uw_reactor_turns(void *reactor);

/* Runs an iteration; the caller has the interpreter's lock, which is released meanwhile. */
void rb_uw_reactor_turn(struct rb_uw_reactor *reactor);

/* fibers and threads, on the loop's thread: later waits for the loop fail, and current waits end. */
void rb_uw_reactor_end(struct rb_uw_reactor *reactor);

#endif
