/* Who serves requests, as far as these know it: what they share, and what they ask of the mode in which they are
 * served. The server's wing fills it in. */
#ifndef RB_UPWELL_HOST_H
#define RB_UPWELL_HOST_H

#include <pthread.h>
#include <ruby.h>

#include "base/forks.h"
#include "base/list.h"
#include "server/server.h"

struct rb_uw_detachment;
struct rb_uw_exchange;
struct rb_uw_scheduler;

/* What differs between the modes. */
struct rb_uw_host_calls {
    void (*send)(struct uw_request *request, struct uw_chunk *chunk);
    /* Waits until little is outgoing, or the client is gone. */
    void (*await_drain)(struct rb_uw_exchange *exchange);
    /* Waits until the connection is the application's. */
    void (*detach)(struct rb_uw_detachment *detachment);
};

struct rb_uw_host {
    const struct rb_uw_host_calls *here, *elsewhere; /* on the loop's thread, and on any other */
    struct uw_server *server;
    VALUE self, app;                   /* the former is the object that this is part of */
    bool one_thread;                   /* the loop's alone writes, and it waits for no client */
    bool newline_values;               /* Rack 2: a header value of several lines is several headers */
    uint64_t held_memory_bytes_max;    /* of what a response is ahead of its client */
    unsigned forks;                    /* of this process when the host was made, or began to run */
    pthread_t thread;                  /* of the loop */
    bool thread_has_ended;             /* another may be called what it was */
    VALUE root;                        /* the fiber that runs the loop, where that has the thread of the application */
    struct rb_uw_scheduler *scheduler; /* whose fibers serve, or NULL */

    VALUE template;               /* what every env has in common */
    VALUE input;                  /* an empty one, that stands in the template, too */
    bool input_lent;              /* a request has it */
    VALUE http_host, remote_addr; /* that stand in the template */
    VALUE held_errors;            /* in the place of its rack.errors for clients that stay */
    VALUE remote_ports;           /* an array of texts: clients send more than one request */

    int64_t flushed_ns;     /* when responses were last handed to the kernel */
    int64_t patience_ns;    /* for which others wait after that */
    int64_t busy_since_ns;  /* when the application got the loop's thread, 0: it does not have it */
    struct uw_list serving; /* exchanges; touched with the interpreter's lock only */
    struct uw_list clients; /* that stay: struct rb_uw_client; touched likewise */
    bool closed;            /* the server is: nobody touches it any more. Likewise */
    size_t ending;          /* requests that have their response, and whose bodies and callbacks are being told so */

    /* Whoever waits on another thread than the loop's: */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a wish was fulfilled, or the loop's thread has started or ended */
    atomic_bool ended;      /* nobody begins to wait for the loop any more */
};

/* `self` is the object that the host is part of: what it refers to is written with its write barrier. */
void rb_uw_host_init(struct rb_uw_host *host, struct uw_server *server, VALUE self);
void rb_uw_host_mark(const struct rb_uw_host *host);
void rb_uw_host_compact(struct rb_uw_host *host);
void rb_uw_host_free(struct rb_uw_host *host);

/* Whether this process is the child of a fork, and this a copy of its parent's: it has no thread but the one that
 * forked, whoever seems to wait for a lock or to serve a request is not there, and the connections are the parent's. */
static inline bool rb_uw_host_is_copy(const struct rb_uw_host *host)
{
    return rb_uw_forked_since(host->forks);
}

/* Raises Upwell::Error there. */
void rb_uw_refuse_copy(const struct rb_uw_host *host);

/* Whether this is the loop's thread, and the loop this process's own. */
bool rb_uw_host_turns_here(const struct rb_uw_host *host);

/* Wakes threads that wait for something to change. */
void rb_uw_host_tell_changed(struct rb_uw_host *host);

/* Whether responses have waited for others of their turn as long as they may. */
bool rb_uw_host_is_late(const struct rb_uw_host *host);

/* What the application computes for long must not hold back the answers before it. The latter takes a turn of the loop
 * in the midst of the application; what it brings has its turn later. */
void rb_uw_host_flush_if_late(struct rb_uw_host *host);
void rb_uw_host_flush(struct rb_uw_host *host);

/* Descriptors have run out: on the loop's thread, closes files of the public folder that are only kept. Returns whether
 * there were any. */
bool rb_uw_host_give_up(struct rb_uw_host *host);

/* Hands a chunk over, on whichever thread; takes the request away from the exchange when it is flagged UW_CHUNK_FINISH.
 */
void rb_uw_hand_over(struct rb_uw_exchange *exchange, struct uw_chunk *chunk);

/* Has the kernel have what was handed over, as far as it takes that at once; from other threads than the loop's it is
 * on its way anyhow. */
void rb_uw_push(struct rb_uw_exchange *exchange);

/* Waits, without stopping anybody else, until little is outgoing; in mode inline only briefly. Raises Errno::EPIPE when
 * the client is gone. */
void rb_uw_await_drain(struct rb_uw_exchange *exchange);

/* Takes the connection of `detachment` out of the server, and waits until that is done. */
void rb_uw_detach_connection(struct rb_uw_detachment *detachment);

#endif
