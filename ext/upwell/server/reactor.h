/* Upwell::Reactor, for its own files. reactor.c has the common part, and each mode has a file that decides where the
 * application runs. */
#ifndef RB_UPWELL_REACTOR_H
#define RB_UPWELL_REACTOR_H

#include "bus/bus.h"
#include "log/refusal_log.h"
#include "rack/rack.h"
#include "server/loop_server.h"
#include "server/request_queue.h"
#include "server/static_settings.h"

struct uw_topic;
struct rb_uw_reactor;
struct rb_uw_early_subscriber;
struct rb_uw_change;

/* The channel events for a Ruby thread, and the subscriptions made before the loop exists. */
struct rb_uw_channels {
    pthread_mutex_t lock; /* for all of it */
    pthread_cond_t changed;
    struct rb_uw_change *first, **last; /* changes not returned yet */
    size_t waiting;                     /* the number of changes, without those of a list of all topics */
    bool whole;                         /* the changes begin with such a list */
    bool lost;                          /* changes were dropped: the loop must be asked for that list */
    bool asked;                         /* it has been, and has not answered */
    struct uw_message question;
    bool ended; /* there will be no more */
    bool open;  /* the loop exists, or existed */
    struct rb_uw_early_subscriber *early;
};

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

extern const struct rb_uw_mode rb_uw_mode_inline, rb_uw_mode_fibers, rb_uw_mode_threads;

/* Upwell::Reactor: a server of the core with an application. */
struct rb_uw_reactor {
    struct rb_uw_loop_server base;
    struct rb_uw_rack_context rack_context;
    const struct rb_uw_mode *mode;
    void *mode_state; /* the mode's */
    struct uw_refusal_log refusals;
    struct rb_uw_static_settings public_settings; /* without a root: the application answers every request */
    struct uw_static files;                       /* of the public directory */
    bool has_files;                               /* `files` is open */
    char *bus_folder;                             /* NULL without other processes */
    struct uw_bus bus;                            /* zero until it is open */
    struct rb_uw_channels channels;
    bool dont_wait;  /* the next iteration must not wait */
    atomic_int busy; /* requests being served by a worker, or on a fiber */
};

/* reactor.c */
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

/* reactor_public_files.c: opens the public directory, if the settings have one. Raises SystemCallError. Files are
 * stopped before the server is closed. */
void rb_uw_reactor_open_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_stop_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_close_files(struct rb_uw_reactor *reactor);

/* reactor_bus.c: where the other processes of the server are; nil: nowhere. Raises TypeError and ArgumentError. */
void rb_uw_reactor_read_bus(struct rb_uw_reactor *reactor, VALUE folder);

/* Joins them, on the loop's thread: clients wait until the others know of this process. Returns 0 or -errno. */
int rb_uw_reactor_open_bus(struct rb_uw_reactor *reactor);

/* Leaves the bus after the loop was closed. A child process's copy does not change the parent's bus. */
void rb_uw_reactor_close_bus(struct rb_uw_reactor *reactor);

/* reactor_channels.c */
void rb_uw_init_reactor_channels(VALUE class);

/* channel_events.c */
void rb_uw_channels_init(struct rb_uw_channels *channels);
void rb_uw_reactor_free_channels(struct rb_uw_reactor *reactor);

/* Returns whether no loop exists yet: then the subscriber opens together with the loop. Raises NoMemoryError. */
bool rb_uw_channels_listen_early(struct rb_uw_channels *channels, struct uw_push_client *subscriber,
                                 const struct uw_topic *topic, uint64_t number);

/* Returns whether the subscriber was one of these. */
bool rb_uw_channels_forget_early(struct rb_uw_channels *channels, const struct uw_push_client *subscriber);

/* Waits for changes and returns them, see reactor_channels.c. */
VALUE rb_uw_channels_await_changes(struct rb_uw_channels *channels);

/* Opens early subscriptions, on the loop's thread. */
void rb_uw_reactor_open_channels(struct rb_uw_reactor *reactor);

/* No more channel events follow. */
void rb_uw_reactor_end_channels(struct rb_uw_reactor *reactor);

/* Whether some requests never reach the application: health checks, and those of the public directory. */
bool rb_uw_reactor_answers_itself(const struct rb_uw_reactor *reactor);

/* The handler of requests: health checks, the public directory where it can answer, otherwise the mode. */
struct uw_handler rb_uw_reactor_handler(struct rb_uw_reactor *reactor);

/* reactor_class.c */
void rb_uw_init_reactor(void);

/* reactor_fibers.c */
void rb_uw_init_reactor_fibers(void);

/* static_reactor_class.c */
void rb_uw_init_static_reactor(void);

/* descriptor_methods.c */
void rb_uw_init_descriptor(void);

/* thread_raise.c */
void rb_uw_init_thread_raise(void);

/* Serves `request`. Returns the state of an exception that ends the thread or the process, or 0. */
int rb_uw_serve_interruptible(struct rb_uw_reactor *reactor, struct uw_request *request);

/* Exceptions that other threads raise into this thread go only to its requests from now on; rb_uw_unguard_thread ends
 * this. */
void rb_uw_guard_thread(VALUE reactor);
void rb_uw_unguard_thread(void);

/* gvl_probe.c: `worker` learns from now on whether the calling thread has or wants the interpreter's lock; NULL ends
 * this. */
void rb_uw_watch_worker(struct uw_worker *worker);

#endif
