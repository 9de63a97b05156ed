/* The server as the Rack layer sees it: data that requests share, and calls that depend on the mode. The server's layer
 * provides both. */
#ifndef RB_UPWELL_RACK_CONTEXT_H
#define RB_UPWELL_RACK_CONTEXT_H

#include <pthread.h>
#include <ruby.h>

#include "base/after_fork.h"
#include "base/list.h"
#include "server/server.h"

struct rb_uw_delivery;
struct rb_uw_detachment;
struct rb_uw_scheduler;

/* The calls that differ between the modes. */
struct rb_uw_rack_context_calls {
    void (*send)(struct uw_request *request, struct uw_chunk *chunk);
    /* Waits until little is outgoing, or the client is gone. */
    void (*await_drain)(struct rb_uw_delivery *delivery);
    /* Waits until the connection is the application's. */
    void (*detach)(struct rb_uw_detachment *detachment);
};

struct rb_uw_rack_context {
    const struct rb_uw_rack_context_calls *here, *elsewhere; /* on the loop's thread, and on any other */
    struct uw_server *server;
    VALUE self, app;                 /* `self` is the object that contains the context */
    bool one_thread;                 /* the loop's alone writes, and it waits for no client */
    bool newline_values;             /* Rack 2: a header value of several lines is several headers */
    bool underscores;                /* header names with an underscore are not dropped */
    bool logged;                     /* in the access log: requests have ids */
    bool timed;                      /* for the access log or the metrics: requests have times */
    uint64_t spill_memory_bytes_max; /* of a response's output that waits for its client */
    unsigned forks;                  /* of this process when the context was made, or began to run */
    pthread_t thread;                /* of the loop */
    bool thread_has_ended;           /* another thread may get its id */
    VALUE root;                      /* the fiber that runs the loop, where the application runs on the loop's thread */
    struct rb_uw_scheduler *scheduler; /* the scheduler of the serving fibers, or NULL */

    VALUE template;               /* the entries that every env starts with */
    VALUE input;                  /* an empty input, also in the template */
    bool input_lent;              /* a request uses it */
    VALUE http_host, remote_addr; /* also in the template */
    VALUE held_errors;            /* the rack.errors of long-lived clients */
    VALUE remote_ports;           /* an array of texts: clients send more than one request */

    int64_t flushed_ns;     /* when responses were last handed to the kernel */
    int64_t patience_ns;    /* for which responses wait for others after that */
    int64_t busy_since_ns;  /* when the application got the loop's thread, 0: it does not have it */
    struct uw_list serving; /* exchanges; touched with the interpreter's lock only */
    struct uw_list clients; /* long-lived: struct rb_uw_push_client; with that lock only */
    bool closed;            /* the server is closed, and no longer used; with that lock only */
    size_t ending;          /* requests that have a response, and whose bodies and callbacks are still running */

    /* For waits on other threads than the loop's: */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call was executed, or the loop's thread has started or ended */
    atomic_bool ended;      /* no more waits for the loop may begin */
};

/* `self` is the object that contains the context; writes of references use its write barrier. That object marks the
 * exchanges and the clients, too. */
void rb_uw_rack_context_init(struct rb_uw_rack_context *rack_context, struct uw_server *server, VALUE self);
void rb_uw_rack_context_mark(const struct rb_uw_rack_context *rack_context);
void rb_uw_rack_context_compact(struct rb_uw_rack_context *rack_context);
void rb_uw_rack_context_free(struct rb_uw_rack_context *rack_context);

/* Whether this process is the child of a fork, and the context a copy of its parent's. A copy has only the thread that
 * forked: no serving thread and no thread with a lock exists here. The connections belong to the parent. */
static inline bool rb_uw_rack_context_is_copy(const struct rb_uw_rack_context *rack_context)
{
    return rb_uw_forked_since(rack_context->forks);
}

/* Raises Upwell::Error there. */
void rb_uw_refuse_copy(const struct rb_uw_rack_context *rack_context);

/* Whether this is the loop's thread, and the loop this process's own. */
bool rb_uw_rack_context_turns_here(const struct rb_uw_rack_context *rack_context);

/* Wakes threads that wait for something to change. */
void rb_uw_rack_context_tell_changed(struct rb_uw_rack_context *rack_context);

/* Whether responses have waited for others as long as they may. */
bool rb_uw_rack_context_is_late(const struct rb_uw_rack_context *rack_context);

/* Long computing in the application must not delay earlier responses. rb_uw_rack_context_flush runs an iteration inside
 * the application; its events are served later. */
void rb_uw_rack_context_flush_if_late(struct rb_uw_rack_context *rack_context);
void rb_uw_rack_context_flush(struct rb_uw_rack_context *rack_context);

/* Descriptors have run out: on the loop's thread, closes cached files of the public directory. Returns whether there
 * were any. */
bool rb_uw_rack_context_give_up(struct rb_uw_rack_context *rack_context);

/* The calls of the mode for the current thread. The application's own threads may make them, too; these threads wait
 * like workers. */
const struct rb_uw_rack_context_calls *rb_uw_rack_context_calls(const struct rb_uw_rack_context *rack_context);

#endif
