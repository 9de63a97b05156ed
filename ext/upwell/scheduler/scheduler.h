/* Upwell::Scheduler: a blocking call of a fiber becomes an operation or a timer of a loop, and other fibers run
 * meanwhile.
 *
 * A wait record lives on the C stack of the waiting fiber. The loop's iteration, which runs without the interpreter's
 * lock, only links finished records to `ready`. After the iteration, the root fiber transfers to each of their fibers.
 * A fiber leaves its wait only after the operation has ended in the kernel, whatever is raised into the fiber.
 *
 * Each file uses only those before it: scheduler_closed_io.c (objects retained of closed IOs), scheduler.c (schedulers
 * and their loops), scheduler_wait_record.c, scheduler_transfer.c (switches between fibers), scheduler_timeouts.c,
 * scheduler_root_fiber.c (iterations of the loop), scheduler_fiber_wait.c, the hooks, scheduler_class.c. Before
 * Ruby 4.0 scheduler_cut_off.c, scheduler_reopening.c and scheduler_closing.c replace the hook of scheduler_io_close.c.
 *
 * A server drives a scheduler on its own loop: rb_uw_scheduler_new, then rb_uw_scheduler_begin_turn and _end_turn
 * around each iteration, and rb_uw_scheduler_run_ready after it. */
#ifndef RB_UPWELL_SCHEDULER_H
#define RB_UPWELL_SCHEDULER_H

#include <ruby.h>
#include <ruby/st.h>
#include <ruby/version.h>

#include "base/list.h"
#include "base/object_counts.h"
#include "io/loop.h"

/* Ruby 4.0 and later notify a scheduler of closed descriptors and of fibers to interrupt. */
#define RB_UW_RUBY(major, minor) (RUBY_API_VERSION_CODE >= (major)*10000 + (minor)*100)

#define RB_UW_DESCRIPTOR_BUCKETS 256

/* Reads of a descriptor: how many of the last tries in a row had to wait, and how many of the next reads shall wait at
 * once. */
struct rb_uw_reads {
    uint8_t misses, untried;
};

struct rb_uw_timeout;
struct rb_uw_wait;

struct rb_uw_scheduler {
    struct uw_loop *loop; /* its own or a server's; NULL until the first use */
    struct uw_loop own;
    VALUE self, backend;
    VALUE thread;        /* the loop's thread, or nil */
    VALUE root;          /* the fiber that runs the loop, or nil */
    bool root_waits;     /* the root has switched to another fiber, and can be transferred to */
    bool root_wanted;    /* the root must raise an exception or report an error */
    bool relays;         /* the root waits for its batch, which the fibers may run through without it */
    unsigned turns_left; /* iterations that fibers may run before the root does */
    VALUE running;       /* the last fiber known to have been resumed, or nil */
    bool turning;        /* the loop may be waiting, and has to be woken */
    bool interrupted;    /* something was raised into the thread, for the fiber that runs */
    bool closed;
    unsigned generation; /* of the loop: records of an earlier one are void */
    unsigned forks;      /* of this process when the loop was opened */

    struct uw_list opened;    /* in the list of those with a loop */
    struct uw_list waits;     /* all records but the following, by `link`; the fibers of all are marked */
    struct uw_list sleeping;  /* records of fibers that may be unblocked, and are not in `blocked` yet */
    struct uw_list ready;     /* records of fibers that have let others go first, and may be resumed */
    struct uw_list batch;     /* records of the fibers to be resumed now */
    struct uw_list due;       /* records of ended waits, resumed in turn with the batch; sorted by `computed_ms` */
    bool due_had_turn;        /* the last resumed fiber was one of them */
    int64_t looked_ns;        /* when the last iteration ended */
    int64_t switched_ns;      /* when a fiber was last resumed, as far as measured */
    struct rb_uw_wait *begun; /* the last wait that began, until another fiber is resumed; or NULL */
    struct uw_list starters;  /* of fibers that started another, resumed when it waits or ends; the last first */
    struct uw_list unblocked; /* by other threads too; touched with the interpreter's lock only */
    struct uw_list cut_off;   /* operations whose IO another thread has closed; with that lock, too */
    struct uw_list closed_io_users;                       /* for the retained objects: see scheduler_closed_io.h */
    struct uw_list timeouts;                              /* of timeout_after, those that are due */
    struct uw_list descriptors[RB_UW_DESCRIPTOR_BUCKETS]; /* the operations on IOs, by their number */
    struct rb_uw_reads reads[RB_UW_DESCRIPTOR_BUCKETS];   /* of these descriptors */
    struct rb_uw_timeout *raising;                        /* the time-out being raised, or NULL */
    st_table *blocked; /* records by their fiber, from the first `unblock` after they began: most sleepers see none */
    VALUE early;       /* Array: fibers that were unblocked just before they blocked */
    VALUE left;        /* Array: fibers that have raised into another fiber and were not resumed by it */
    VALUE interrupts;  /* Array: fiber, exception, fiber, exception ... */
    VALUE deferred;    /* such pairs that could not be raised yet */
    VALUE error;       /* the first that a fiber did not rescue, or nil */
    VALUE body;        /* Proc: the body of its fibers */
    VALUE block;       /* of the fiber that is being started, or nil */
    size_t waiting, fibers; /* the number of waiting and of all fibers */
    size_t selected;        /* IOs of those that wait in IO.select */
};

void rb_uw_init_scheduler_object(void);
rb_uw_add_stats rb_uw_schedulers_add_stats;

/* Schedulers with a loop, by `opened`; perhaps copies. All belong to the first ractor. A scheduler with waiting fibers
 * is not collected, except for copies: its fibers, and so their records, might be collected before it. */
extern struct uw_list rb_uw_schedulers;

/* Closes schedulers of threads that ended without doing so: Ruby 3.1's killed threads. */
void rb_uw_schedulers_end_lost(void);

/* Creates a server's scheduler on the server's loop, for the current thread. */
VALUE rb_uw_scheduler_new(struct uw_loop *loop);

/* Returns an Upwell::Scheduler in any state. */
struct rb_uw_scheduler *rb_uw_scheduler_get(VALUE self);

/* An Upwell::Scheduler, ready for use. Raises Upwell::Error when it is closed. */
struct rb_uw_scheduler *rb_uw_scheduler_use(VALUE self);

/* The scheduler of the current thread, if it is an Upwell::Scheduler; or NULL. */
struct rb_uw_scheduler *rb_uw_scheduler_current(void);

/* Whether this process is the child of a fork, and the loop its parent's still. */
bool rb_uw_scheduler_is_copy(const struct rb_uw_scheduler *scheduler);

/* Whether its loop is a server's, of this process. */
bool rb_uw_scheduler_serves(const struct rb_uw_scheduler *scheduler);

/* Lets go of the loop, for ever. */
VALUE rb_uw_scheduler_end_loop(VALUE self);

extern VALUE rb_uw_cScheduler, rb_uw_eStop /* Upwell::Scheduler::Stop */, rb_uw_eFiberError;

#endif
