/* Upwell::Reactor, as the files that make it up see it: reactor_class.c has what all modes share, and each mode has a
 * file of its own that says where the application runs. */
#ifndef RB_UPWELL_REACTOR_H
#define RB_UPWELL_REACTOR_H

#include <pthread.h>

#include "base/control.h"
#include "log/refusal_log.h"
#include "server/listening.h"
#include "server/request_queue.h"
#include "server/static_settings.h"
#include "upwell.h"

struct rb_uw_detachment;
struct rb_uw_scheduler;

/* What differs between the modes. */
struct rb_uw_mode {
    const char *name;
    void (*notify)(void *reactor, struct uw_request *request, enum uw_event event);
    /* Opens the server on the thread that will turn its loop. Returns 0 or -errno. */
    int (*open)(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                long count);
    /* Serves until told to end. */
    VALUE (*run)(VALUE reactor);
    /* Ends whatever is under way. */
    void (*close)(struct rb_uw_reactor *reactor);
    void (*send)(struct uw_request *request, struct uw_chunk *chunk);
    /* Waits until little is outgoing, or the client is gone. */
    void (*await_drain)(struct rb_uw_exchange *exchange);
    /* Waits until the connection is the application's. */
    void (*detach)(struct rb_uw_detachment *detachment);
};

extern const struct rb_uw_mode rb_uw_mode_inline, rb_uw_mode_fibers, rb_uw_mode_threads;

/* Upwell::Reactor: a server of the core with an application. */
struct rb_uw_reactor {
    struct uw_server server;
    struct uw_refusal_log refusals;
    struct uw_server_settings settings;
    const struct rb_uw_mode *mode;
    struct rb_uw_static_settings public_settings; /* without a root: the application answers every request */
    struct uw_static files;                       /* of the public folder */
    bool has_files;                               /* `files` is open */
    bool newline_values;                          /* Rack 2: a header value of several lines is several headers */
    bool ran;                                     /* `run` has been called */
    bool finished;                                /* `run` has ended */
    unsigned forks;                               /* of this process when the reactor was made, or began to run */

    VALUE self, app, backend, sockets;
    VALUE root;              /* the fiber that runs the loop, where the loop has the thread of the application */
    VALUE template;          /* what every env has in common */
    VALUE input;             /* an empty one, that stands in the template, too */
    bool input_lent;         /* a request has it */
    VALUE host, remote_addr; /* that stand in the template */
    VALUE remote_ports;      /* an array of texts: clients send more than one request */

    struct rb_uw_control control;
    int64_t flushed_ns; /* when responses were last handed to the kernel */

    /* inline and fibers: */
    struct rb_uw_requests {
        struct uw_request *first, **last;
    } ready, batch;        /* what the loop brought, and of it what has its turn */
    bool hurry;            /* the next turn must not wait */
    int64_t busy_since_ns; /* when the application got the thread, 0: it does not have it */

    /* fibers: */
    VALUE scheduler, idle;                   /* Array of Fiber */
    struct rb_uw_scheduler *fiber_scheduler; /* what `scheduler` holds */
    VALUE starter, starting;                 /* the fiber that starts those of the pool; which one, or nil */
    bool unstarted;                          /* `starting` has not begun yet */
    struct uw_timer no_stack;                /* until it expires, no more fibers are started */
    size_t fibers, fibers_max;
    struct uw_list serving; /* exchanges; touched with the interpreter's lock only */
    size_t ending;          /* requests that have their response, and whose bodies and callbacks are being told so */

    /* threads: */
    struct uw_queue queue;
    pthread_t thread; /* of the loop, in every mode */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a worker's wish was fulfilled, or the loop's thread has started or ended */
    bool started;
    atomic_bool ended;
    int ended_fd; /* an eventfd, readable once the loop's thread has ended */
    int status;
    atomic_int busy; /* requests being served by a worker, or on a fiber */
};

/* A connection on its way from the server to the application. */
struct rb_uw_detachment {
    struct uw_detached detached;
    struct rb_uw_reactor *reactor;
    struct uw_request *request;
    struct rb_uw_wait *wait; /* fibers: of the one that waits */
    bool done;
};

/* reactor_class.c */
struct rb_uw_reactor *rb_uw_reactor(VALUE self);

/* Whether this process is the child of a fork, and this a copy of its parent's: it has no thread but the one that
 * forked, whoever seems to wait for a lock or to serve a request is not there, and the connections are the parent's. */
bool rb_uw_reactor_is_copy(const struct rb_uw_reactor *reactor);

/* Raises Upwell::Error there. */
void rb_uw_refuse_copy(const struct rb_uw_reactor *reactor);

/* Opens the server on this thread. Returns 0 or -errno. */
int rb_uw_reactor_open(struct rb_uw_reactor *reactor, const char *backend, const struct rb_uw_listening *listening,
                       long count);

/* Whether there is something left to serve; not for the child that a trap handler has forked. */
bool rb_uw_reactor_goes_on(struct rb_uw_reactor *reactor);

/* Turns of the loop, on its thread, without the interpreter's lock: until one brings something for the application, or
 * the loop is woken. Takes the reactor. */
void *rb_uw_reactor_turns(void *reactor);
void rb_uw_reactor_wake(void *reactor);

/* Events of inline and fibers: appends `request` to those that are ready. */
void rb_uw_reactor_enqueue(void *reactor, struct uw_request *request);

/* What is ready now has its turn; what it makes ready, after the loop's. */
void rb_uw_reactor_begin_batch(struct rb_uw_reactor *reactor);
struct uw_request *rb_uw_reactor_take(struct rb_uw_reactor *reactor);

/* Wakes threads that wait for something to change. */
void rb_uw_reactor_tell_changed(struct rb_uw_reactor *reactor);

/* fibers and threads, on the loop's thread: nobody begins to wait for the loop after this, and whoever waits is told.
 */
void rb_uw_reactor_end(struct rb_uw_reactor *reactor);

/* What the application computes for long must not hold back the answers before it. The latter takes a turn of the loop
 * in the midst of the application; what it brings has its turn later. */
void rb_uw_reactor_flush_if_late(struct rb_uw_reactor *reactor);
void rb_uw_reactor_flush(struct rb_uw_reactor *reactor);

/* Descriptors have run out: on the loop's thread, closes files of the public folder that are only kept. Returns whether
 * there were any. */
bool rb_uw_reactor_give_up(struct rb_uw_reactor *reactor);

/* Sends a chunk, on the loop's thread, where requests may wait and others have theirs sent together: a piece of a
 * longer response leaves with this turn, or when it has waited for long. */
void rb_uw_reactor_send(struct uw_request *request, struct uw_chunk *chunk);

/* Hands a chunk over, on whichever thread; takes the request away from the exchange when it is flagged UW_CHUNK_FINISH.
 */
void rb_uw_hand_over(struct rb_uw_exchange *exchange, struct uw_chunk *chunk);

/* Has the kernel have what was handed over, as far as it takes that at once; from other threads than the loop's it is
 * on its way anyhow. */
void rb_uw_push(struct rb_uw_exchange *exchange);

/* Waits, without stopping anybody else, until little is outgoing; in mode inline only briefly. Raises Errno::EPIPE when
 * the client is gone. */
void rb_uw_await_drain(struct rb_uw_exchange *exchange);

/* holding.c: waits for the client so briefly that it stops nobody, and sets `behind` if it has not caught up by then.
 */
void rb_uw_hold_back(struct rb_uw_exchange *exchange);

/* Before a piece is sent: whoever paused for long has patience anew. */
void rb_uw_note_pause(struct rb_uw_exchange *exchange);

/* Whether the client is behind, or something is held: then what comes next is held, too, until it has caught up. */
bool rb_uw_is_ahead(const struct rb_uw_exchange *exchange);

/* Whether a client that was behind has caught up, with what was held handed over; otherwise the chunk is held, too, or
 * filled further. It is looked after now and then, and when `asked`. Raises what rb_uw_await_drain does; and once for
 * all IOError or SystemCallError where no more can be held, with which the response is broken. */
bool rb_uw_catch_up(struct rb_uw_exchange *exchange, bool asked);
void rb_uw_hand_over_held(struct rb_uw_exchange *exchange);

/* Raises IOError when the response is broken: pieces are missing from it. */
void rb_uw_refuse_broken(const struct rb_uw_exchange *exchange);

/* Takes the connection of `detachment` out of the server, and waits until that is done. */
void rb_uw_detach_connection(struct rb_uw_detachment *detachment);

/* reactor_files.c: opens the public folder, if there is one. Raises SystemCallError. It is stopped before the server is
 * closed. */
void rb_uw_reactor_open_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_stop_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_close_files(struct rb_uw_reactor *reactor);

/* Who answers requests: the public folder where it can, otherwise the mode. */
struct uw_handler rb_uw_reactor_handler(struct rb_uw_reactor *reactor);

/* detach.c: takes the connection out of the server, with the head of the response sent if there is one: a Ruby socket,
 * or nil when the connection is not to be had, for which there is an IOError. */
VALUE rb_uw_detach(struct rb_uw_exchange *exchange, struct uw_chunk *head);
NORETURN(void rb_uw_refuse_hijack(void));

/* Ends the connection of such a socket, which nobody uses any more; in a copy it remains the parent's. */
void rb_uw_detached_close(const struct rb_uw_reactor *reactor, VALUE io);

/* reactor_fibers.c */
void rb_uw_init_reactor_fibers(void);

/* service.c: serves `request`. Returns the state of what is to end the thread or the process, or 0. */
int rb_uw_service(struct rb_uw_reactor *reactor, struct uw_request *request);

/* From here to there, what other threads raise for the request interrupts it. The latter may be called again; it raises
 * what is to end the thread or the process. */
void rb_uw_service_begin(struct rb_uw_exchange *exchange);
void rb_uw_service_end(struct rb_uw_exchange *exchange);

/* Calls `function`. Returns the state of what is to end the thread or the process, or 0: what else it raises is logged.
 */
int rb_uw_protect(VALUE (*function)(VALUE), VALUE argument);

/* From here on what other threads raise into this one is for its requests only; and no more. */
void rb_uw_guard_thread(VALUE reactor);
void rb_uw_unguard_thread(void);

/* computing.c: from here on `worker` tells whether the calling thread has the interpreter's lock, or wants it; NULL: no
 * more. */
void rb_uw_watch_worker(struct uw_worker *worker);

/* reactor_threads.c: serves requests on the calling thread until the reactor has ended. */
void rb_uw_reactor_work(struct rb_uw_reactor *reactor);

#endif
