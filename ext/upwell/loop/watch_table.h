/* The common part of Upwell::Loop and Upwell::Selector: a loop of the core that watches descriptors and timers for Ruby
 * objects, their keys. Every function is called with the interpreter's lock, by any thread, unless stated otherwise.
 * Only the waiting thread may touch the loop: it applies the changes of other threads in its next iteration. */
#ifndef RB_UPWELL_WATCH_TABLE_H
#define RB_UPWELL_WATCH_TABLE_H

#include <ruby.h>

#include "base/list.h"
#include "base/slab.h"
#include "io/loop.h"

struct rb_uw_watch {
    struct uw_operation poll;
    struct uw_timer timer;
    struct uw_list link; /* in watches->all */
    struct rb_uw_watch *next_changed, *next_fired;
    struct rb_uw_watch *next_alike; /* the next with the same hash of its key */
    VALUE key;
    VALUE hash;          /* of the key: a Fixnum, when keys are not compared by identity */
    VALUE io;            /* nil: a timer, or a descriptor without an IO */
    int64_t interval_ns; /* of a recurring timer */
    int32_t result;      /* of the poll */
    bool timed;          /* a timer */
    bool recurring;      /* continues until it is unwatched */
    bool keyed;          /* found by its key */
    bool ended;          /* unwatched */
    bool changed;        /* in watches->changed */
    bool taken;          /* its event was received and not delivered yet */
    bool fired;          /* the loop's: in watches->fired or cancelled, or being delivered */
};

struct rb_uw_watches {
    struct uw_loop loop;
    const char *backend;
    bool open;             /* `loop` is, */
    VALUE thread;          /* by this thread */
    unsigned forks;        /* in the process that had forked so often */
    struct uw_list opened; /* in the list of those that have it open */

    bool waiting;        /* a thread waits, and other threads or trap handlers may run; */
    bool blocking;       /* without the interpreter's lock */
    bool woken;          /* the wait is to end, or else the next one */
    bool interrupted;    /* the wait is to end, by a signal or another thread */
    int64_t lock_let_ns; /* when the thread that waits last let others have that lock */

    VALUE table;      /* Hash: by the hash of keys, or by the key, the address of the first watch as a Fixnum */
    bool by_identity; /* keys are compared by identity, not by `eql?` */
    uint64_t altered; /* how often the table was */
    struct uw_slab slab;
    struct uw_list all;
    size_t unchecked; /* watches to be looked at: their IO may have been closed since the last event */
    struct rb_uw_watch *changed, **changed_last; /* to be started or stopped in the next iteration */
    struct rb_uw_watch *fired, **fired_last;     /* the loop's: with an event, in order */
    struct rb_uw_watch *cancelled;               /* the loop's: no longer in the kernel */
};

/* `backend` is a String or nil. Raises Upwell::BackendError. */
void rb_uw_watches_init(VALUE self, struct rb_uw_watches *watches, bool by_identity, VALUE backend);

/* The type of `self` calls these, perhaps before rb_uw_watches_init was called. */
void rb_uw_watches_mark(struct rb_uw_watches *watches);
void rb_uw_watches_compact(struct rb_uw_watches *watches);
void rb_uw_watches_free(struct rb_uw_watches *watches);
size_t rb_uw_watches_memsize(const struct rb_uw_watches *watches);

/* Watches `io`, or when it is nil the descriptor `fd`, for `events` (POLLIN, POLLOUT). Raises when the key is in use.
 */
void rb_uw_watch_io(VALUE self, struct rb_uw_watches *watches, VALUE key, VALUE io, int fd, unsigned events,
                    bool recurring);

/* Watches a time; 0 for no interval. */
void rb_uw_watch_timer(VALUE self, struct rb_uw_watches *watches, VALUE key, int64_t deadline_ns, int64_t interval_ns);

/* Ends the watch of `key`; returns whether there was one. Its event, if it has one, is not delivered any more. */
bool rb_uw_unwatch(struct rb_uw_watches *watches, VALUE key);

/* Ends a wait in progress. May be called in a trap handler. */
void rb_uw_watches_interrupt(struct rb_uw_watches *watches);

/* Ends a wait in progress, or else the next one. May be called in a trap handler. */
void rb_uw_watches_wake(struct rb_uw_watches *watches);

/* For watch_wait.c: */

/* Makes the waiting thread start `watch`, or stop an ended one. */
void rb_uw_watch_change(struct rb_uw_watches *watches, struct rb_uw_watch *watch);

/* Ends it, and its key is free. */
void rb_uw_watch_end(struct rb_uw_watches *watches, struct rb_uw_watch *watch);

/* Frees it, unless something still refers to it. */
void rb_uw_watch_release(struct rb_uw_watches *watches, struct rb_uw_watch *watch);

static inline struct rb_uw_watch *rb_uw_watch_of_link(struct uw_list *link)
{
    return uw_container_of(link, struct rb_uw_watch, link);
}

#endif
