/* Upwell::Reactor, as the files that make it up see it: reactor.c has what all modes share, and each mode has a file of
 * its own that says where the application runs. */
#ifndef RB_UPWELL_REACTOR_H
#define RB_UPWELL_REACTOR_H

#include "log/refusal_log.h"
#include "push/bus.h"
#include "rack/rack.h"
#include "server/loop_server.h"
#include "server/request_queue.h"
#include "server/static_settings.h"

struct uw_topic;
struct rb_uw_reactor;
struct rb_uw_early_ear;
struct rb_uw_change;

/* What happens to its channels, for a thread of Ruby's; and who has subscribed before there is a loop. */
struct rb_uw_channels {
    pthread_mutex_t lock; /* for all of it */
    pthread_cond_t changed;
    struct rb_uw_change *first, **last; /* that nobody has heard of */
    size_t waiting;                     /* of them, but for those of a list of all topics */
    bool whole;                         /* they begin with such a list */
    bool lost;                          /* there were too many: the loop is to be asked for that list */
    bool asked;                         /* it has been, and has not answered */
    struct uw_message question;
    bool ended; /* there will be no more */
    bool open;  /* there is a loop, or has been one */
    struct rb_uw_early_ear *early;
};

/* What differs between the modes. */
struct rb_uw_mode {
    const char *name;
    struct rb_uw_host_calls calls;
    bool one_thread; /* see rb_uw_host */
    bool drains;     /* requests that have their response are waited for, too, while the server drains */

    /* What it keeps in reactor->own, which is zero at first. Those without a use for the rest have NULL there. */
    size_t own_bytes;
    void (*init)(struct rb_uw_reactor *reactor, VALUE settings);
    void (*mark)(const void *own);
    void (*compact)(void *own);
    void (*free)(struct rb_uw_reactor *reactor);

    void (*notify)(void *reactor, struct uw_request *request, enum uw_event event);
    /* Opens the server on the thread that will turn its loop. Returns 0 or -errno; control.open tells whether `close`
     * is to follow all the same. */
    int (*open)(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                long count);
    /* Serves until told to end. */
    VALUE (*run)(VALUE reactor);
    /* Ends whatever is under way. */
    void (*close)(struct rb_uw_reactor *reactor);
    /* Whether the loop has brought something for the application to do. */
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
    struct rb_uw_host host;
    const struct rb_uw_mode *mode;
    void *own; /* the mode's */
    struct uw_refusal_log refusals;
    struct rb_uw_static_settings public_settings; /* without a root: the application answers every request */
    struct uw_static files;                       /* of the public folder */
    bool has_files;                               /* `files` is open */
    char *bus_folder;                             /* NULL: there are no other processes */
    struct uw_bus bus;                            /* zero until it is open */
    struct rb_uw_channels channels;
    bool hurry;      /* the next turn must not wait */
    atomic_int busy; /* requests being served by a worker, or on a fiber */
};

/* reactor.c */
VALUE rb_uw_reactor_allocate(VALUE class);
struct rb_uw_reactor *rb_uw_reactor(VALUE self);

static inline struct rb_uw_reactor *rb_uw_reactor_of(struct rb_uw_host *host)
{
    return uw_owner(host, struct rb_uw_reactor, host);
}

static inline bool rb_uw_reactor_is_copy(const struct rb_uw_reactor *reactor)
{
    return rb_uw_host_is_copy(&reactor->host);
}

/* Opens the server on this thread. Returns 0 or -errno. */
int rb_uw_reactor_open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                       long count);

/* Whether there is something left to serve; not for the child that a trap handler has forked. */
bool rb_uw_reactor_goes_on(struct rb_uw_reactor *reactor);

/* Turns of the loop, on its thread, without the interpreter's lock: until one brings something for the application, or
 * the loop is woken. Takes the reactor. */
void *rb_uw_reactor_turns(void *reactor);

/* The same where the interpreter's lock is held, which is let go of meanwhile. */
void rb_uw_reactor_turn(struct rb_uw_reactor *reactor);

/* fibers and threads, on the loop's thread: nobody begins to wait for the loop after this, and whoever waits is told.
 */
void rb_uw_reactor_end(struct rb_uw_reactor *reactor);

/* reactor_files.c: opens the public folder, if there is one. Raises SystemCallError. It is stopped before the server is
 * closed. */
void rb_uw_reactor_open_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_stop_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_close_files(struct rb_uw_reactor *reactor);

/* reactor_bus.c: where the other processes of the server are; nil: nowhere. Raises TypeError and ArgumentError. */
void rb_uw_reactor_read_bus(struct rb_uw_reactor *reactor, VALUE folder);

/* Joins them, on the loop's thread: clients wait until the others know of this process. Returns 0 or -errno. */
int rb_uw_reactor_open_bus(struct rb_uw_reactor *reactor);

/* Leaves them once the loop is closed; what a child process has is its parent's. */
void rb_uw_reactor_close_bus(struct rb_uw_reactor *reactor);

/* reactor_channels.c */
void rb_uw_init_reactor_channels(VALUE class);

/* channel_feed.c */
void rb_uw_channels_init(struct rb_uw_channels *channels);
void rb_uw_reactor_free_channels(struct rb_uw_reactor *reactor);

/* Returns whether there is no loop yet: then the ear is opened when there is. Raises NoMemoryError. */
bool rb_uw_channels_listen_early(struct rb_uw_channels *channels, struct uw_client *ear, const struct uw_topic *topic,
                                 uint64_t number);

/* Returns whether it was among those. */
bool rb_uw_channels_forget_early(struct rb_uw_channels *channels, const struct uw_client *ear);

/* What has changed, see reactor_channels.c. */
VALUE rb_uw_channels_await_changes(struct rb_uw_channels *channels);

/* On the loop's thread: who has subscribed before hears from now on. */
void rb_uw_reactor_open_channels(struct rb_uw_reactor *reactor);

/* There is nothing to be heard of channels any more. */
void rb_uw_reactor_end_channels(struct rb_uw_reactor *reactor);

/* Who answers requests: the public folder where it can, otherwise the mode. */
struct uw_handler rb_uw_reactor_handler(struct rb_uw_reactor *reactor);

/* reactor_class.c */
void rb_uw_init_reactor(void);

/* reactor_fibers.c */
void rb_uw_init_reactor_fibers(void);

/* static_reactor_class.c */
void rb_uw_init_static_reactor(void);

/* descriptor.c */
void rb_uw_init_descriptor(void);

/* service.c */
void rb_uw_init_service(void);

/* Serves `request`. Returns the state of what is to end the thread or the process, or 0. */
int rb_uw_service(struct rb_uw_reactor *reactor, struct uw_request *request);

/* From here on what other threads raise into this one is for its requests only; and no more. */
void rb_uw_guard_thread(VALUE reactor);
void rb_uw_unguard_thread(void);

/* computing.c: from here on `worker` tells whether the calling thread has the interpreter's lock, or wants it; NULL: no
 * more. */
void rb_uw_watch_worker(struct uw_worker *worker);

#endif
