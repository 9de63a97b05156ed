/* Upwell::Scheduler: what blocks a fiber becomes an operation or a timer of a loop, and other fibers run meanwhile.
 *
 * A wait record lives on the C stack of the fiber that waits. The loop's turn, which runs without the interpreter's
 * lock, only links the records of what has come to `ready`; after the turn, the root fiber transfers to each of these
 * fibers. A record is not left before its operation has ended in the kernel, whatever is raised into the fiber.
 *
 * Each file uses those before it alone: scheduler_holds.c (what is kept of closed IOs), scheduler.c (schedulers and
 * their loops), scheduler_record.c, scheduler_transfer.c (how fibers go on), scheduler_timeouts.c, scheduler_root.c
 * (turns of the loop), scheduler_wait.c, the hooks, scheduler_class.c.
 *
 * A server drives a scheduler on its own loop: rb_uw_scheduler_new, then rb_uw_scheduler_begin_turn and _end_turn
 * around each turn, and rb_uw_scheduler_run_ready after it. */
#ifndef RB_UPWELL_SCHEDULER_H
#define RB_UPWELL_SCHEDULER_H

#include <ruby.h>
#include <ruby/st.h>
#include <ruby/version.h>

#include "base/list.h"
#include "base/stats.h"
#include "io/loop.h"

/* Ruby 4.0 tells a scheduler of closed descriptors and of fibers to interrupt. */
#define RB_UW_RUBY(major, minor) (RUBY_API_VERSION_CODE >= (major)*10000 + (minor)*100)

#define RB_UW_DESCRIPTOR_BUCKETS 256

/* Of a descriptor: how many of the last tries in a row had to wait, and how many reads to come shall wait at once. */
struct rb_uw_reads {
    uint8_t misses, untried;
};

struct rb_uw_scheduler {
    struct uw_loop *loop; /* its own or a server's; NULL until the first use */
    struct uw_loop own;
    VALUE self, backend;
    VALUE thread;        /* whose loop it is, or nil */
    VALUE root;          /* the fiber that turns the loop, as far as one does */
    bool root_waits;     /* it has let another go on, and can be transferred to */
    bool root_wanted;    /* it has something to raise, or to fail with */
    bool relays;         /* it waits for its batch, which the fibers may go through without it */
    unsigned turns_left; /* that fibers may take before the root has its turn */
    VALUE running;       /* the last fiber that is known to have gone on, or nil */
    bool turning;        /* the loop may be waiting, and has to be woken */
    bool struck;         /* something was raised into the thread, for the fiber that runs */
    bool closed;
    unsigned generation; /* of the loop: what an earlier one was told is void */
    unsigned forks;      /* of this process when the loop was opened */

    struct uw_list opened;    /* in the list of those with a loop */
    struct uw_list waits;     /* all records but the following, by `link`; the fibers of all are marked */
    struct uw_list sleeping;  /* those of fibers that may be unblocked, and are not in `blocked` yet */
    struct uw_list ready;     /* those whose fibers may go on */
    struct uw_list batch;     /* those that have their turn */
    struct uw_list starters;  /* those that have started another, and go on when it waits or ends; the last first */
    struct uw_list unblocked; /* by other threads too; touched with the interpreter's lock only */
    struct uw_list cut_off;   /* likewise: operations whose IO another thread has closed */
    struct uw_list holds;     /* on what is kept for them: see scheduler_holds.h */
    struct uw_list timeouts;  /* of timeout_after, those that are due */
    struct uw_list descriptors[RB_UW_DESCRIPTOR_BUCKETS]; /* the operations on IOs, by their number */
    struct rb_uw_reads reads[RB_UW_DESCRIPTOR_BUCKETS];   /* likewise */
    struct rb_uw_timeout *raising; /* the one whose exception is about to reach its fiber, or NULL */
    st_table *blocked; /* records by their fiber, from the first `unblock` after they began: most sleepers see none */
    VALUE early;       /* Array: fibers that were unblocked just before they blocked */
    VALUE left;        /* Array: fibers that have raised into another, which did not come back to them */
    VALUE interrupts;  /* Array: fiber, exception, fiber, exception ... */
    VALUE deferred;    /* likewise: those that could not be raised yet */
    VALUE error;       /* the first that a fiber did not rescue, or nil */
    VALUE body;        /* Proc: what its fibers run */
    VALUE block;       /* of the fiber that is being started, or nil */
    size_t waiting, fibers; /* how many there are */
    size_t selected;        /* IOs of those that wait in IO.select */
};

/* An operation on an IO, whose fiber is told when that is closed. It is in the scheduler's lists as long as the kernel
 * may have it. */
struct rb_uw_io_operation {
    bool io_closed, io_reopened;
    struct rb_uw_hold *hold; /* after its IO was closed, or NULL */
    struct uw_operation operation;
    struct uw_list descriptor, cut_off;
    VALUE io; /* or nil */
};

/* First what a turn touches of one that ends: among many fibers each line of it has to come from memory. */
struct rb_uw_wait {
    struct uw_timer timer;
    struct rb_uw_scheduler *scheduler;
    struct uw_list ready;
    VALUE fiber;
    unsigned generation;
    int32_t result; /* of the operation */
    bool over;      /* what was waited for has come, or the time is up */
    bool returned;  /* the fiber has gone on without an exception */
    bool timed_out;
    bool blocked; /* is in `blocked` */
    struct rb_uw_io_operation on_io;
    struct uw_list link, unblocked;
};

/* scheduler_class.c */
void rb_uw_init_scheduler(void);

/* scheduler.c */
void rb_uw_init_scheduler_object(void);
rb_uw_add_stats rb_uw_schedulers_add_stats;

/* Those that have a loop, by `opened`; perhaps copies. All belong to the first ractor. None for which fibers wait is
 * collected, but for copies: its fibers might be so before it, and with them the records that are looked for here. */
extern struct uw_list rb_uw_schedulers;

/* Ends those whose threads have ended without doing so: the threads of Ruby 3.1 that are killed. */
void rb_uw_schedulers_end_lost(void);

/* The scheduler of a server: on the loop that the server turns, on the current thread. */
VALUE rb_uw_scheduler_new(struct uw_loop *loop);

/* An Upwell::Scheduler, whatever its state. */
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

/* scheduler_record.c */

/* `seconds` is nil or a number: nanoseconds, or UW_FOREVER. Raises ArgumentError or TypeError. */
int64_t rb_uw_nanoseconds(VALUE seconds);

/* When a timer is due that begins now. */
int64_t rb_uw_deadline(int64_t timeout_ns);

/* Makes a record for the current fiber, to be waited for with a function of scheduler_wait.c. */
void rb_uw_wait_init(struct rb_uw_wait *wait, struct rb_uw_scheduler *scheduler);

/* In the scheduler's `list` of records, and in none any more. */
void rb_uw_wait_begin(struct rb_uw_wait *wait, struct uw_list *list);
void rb_uw_wait_forget(struct rb_uw_wait *wait);

/* A fiber is about to wait, or ends. One that has raised into another, and is to go on later, went on early when it was
 * raised into itself: whoever did that goes on later instead. */
void rb_uw_scheduler_note(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Something was raised into a fiber that waited, which runs now: whoever did so transferred to it, and this one, when
 * it waits or ends, does to the root. Notes that the raiser goes on later. */
void rb_uw_scheduler_note_raiser(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Whether the loop knows nothing of it any more: it has ended, or this is the child of a fork, whose parent waits. */
bool rb_uw_wait_is_void(const struct rb_uw_wait *wait);

/* What is left of `timeout_ns`, with which it was waited for. */
int64_t rb_uw_wait_left(const struct rb_uw_wait *wait, int64_t timeout_ns);

/* The record of a fiber that waits to be unblocked; or NULL. */
struct rb_uw_wait *rb_uw_wait_of_blocked(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Whether the thread that unblocks has come before the fiber that blocks. */
bool rb_uw_wait_unblocked_early(struct rb_uw_wait *wait);

/* Lets the fiber go on. Safe without the interpreter's lock, on the loop's thread. */
void rb_uw_wait_end(struct rb_uw_wait *wait);

void rb_uw_io_operation_init(struct rb_uw_io_operation *on_io, uw_complete *complete);

/* Submits the operation, which is cancelled when `io` is closed: see scheduler_holds.h. */
void rb_uw_io_operation_begin(struct rb_uw_io_operation *on_io, struct rb_uw_scheduler *scheduler, VALUE io);

/* It has ended in the kernel, or was never begun, and the loop is not void. */
void rb_uw_io_operation_end(struct rb_uw_io_operation *on_io);

/* Raises IOError if its IO was closed. */
void rb_uw_io_operation_check(const struct rb_uw_io_operation *on_io);

/* Lives on the stack of the fiber whose time is limited. */
struct rb_uw_timeout {
    struct rb_uw_scheduler *scheduler;
    struct uw_timer timer;
    struct uw_list link; /* in scheduler->timeouts when the time is up */
    VALUE fiber, duration;
    int argc; /* of the exception */
    const VALUE *argv;
    unsigned generation;
    bool tried; /* something was raised before the fiber went on: what makes the exception may do so each time */
};

/* scheduler_timeouts.c */

/* Raises into the fibers whose time is up. */
void rb_uw_scheduler_raise_timeouts(struct rb_uw_scheduler *scheduler);

/* The time-out whose exception has just reached `fiber`, or NULL. */
struct rb_uw_timeout *rb_uw_scheduler_take_raising(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* It is raised when its fiber waits again. */
void rb_uw_timeout_put_off(struct rb_uw_timeout *timeout);

/* The current fiber is about to wait, and nothing has been submitted yet: raises what is due in it. */
void rb_uw_raise_due_timeout(struct rb_uw_scheduler *scheduler);

/* scheduler_root.c */

/* Whether other fibers than the current one are about to go on. */
static inline bool rb_uw_scheduler_others_ready(const struct rb_uw_scheduler *scheduler)
{
    return !uw_list_empty(&scheduler->batch) || !uw_list_empty(&scheduler->ready);
}

/* Whether fibers wait to go on, so that the loop must not wait. */
bool rb_uw_scheduler_ready(const struct rb_uw_scheduler *scheduler);

/* Whether a turn has brought something for a fiber. Safe without the interpreter's lock, on the loop's thread. */
bool rb_uw_scheduler_brought(const struct rb_uw_scheduler *scheduler);

/* Whether fibers wait at all. */
bool rb_uw_scheduler_pending(const struct rb_uw_scheduler *scheduler);

/* Before the loop does anything: cancels what others have closed. */
void rb_uw_scheduler_cancel_cut_off(struct rb_uw_scheduler *scheduler);

/* Before a turn for which the interpreter's lock is let go of. Returns whether the turn must not wait. */
bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler);
void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler);

/* On the fiber that turns the loop: has every fiber go on for which the turn brought something. */
void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler);

/* Raises what was raised into the thread for the fiber that runs. */
void rb_uw_scheduler_strike(struct rb_uw_scheduler *scheduler);

/* Has others go on until this fiber is transferred to again, or the loop has been turned here. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler);

/* scheduler_wait.c */

/* Suspends the fiber until wait->over or the time is up. */
void rb_uw_wait(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Suspends it until it is unblocked (true) or the time is up (false). */
bool rb_uw_wait_blocked(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Submits wait->on_io.operation, on `io`, and suspends the fiber until it has ended; when `io` is reopened meanwhile,
 * once more. Returns its result; after a time-out, which wait->timed_out tells, a negative one. Raises IOError when
 * `io` is closed meanwhile. */
int32_t rb_uw_wait_operation(struct rb_uw_wait *wait, VALUE io, int64_t timeout_ns);

/* Starts `fiber`, and goes on when that one waits or ends; with nil, goes on when all others have had their turn. */
void rb_uw_wait_turn(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Cancels an operation whose completion ends `wait`, and suspends the fiber until that is so. */
void rb_uw_wait_cancel(struct rb_uw_wait *wait, struct uw_operation *operation);

/* scheduler_block.c */

/* Has the loop look for what other threads ask of it. */
void rb_uw_scheduler_wake(struct rb_uw_scheduler *scheduler);

/* Raises `exception` in `fiber` as soon as it waits. For any thread. */
void rb_uw_scheduler_interrupt(struct rb_uw_scheduler *scheduler, VALUE fiber, VALUE exception);

/* What was to be raised in `fiber` is not. */
void rb_uw_scheduler_spare(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* scheduler_fiber.c */

/* Starts `fiber`; the caller goes on when that one waits or ends. */
void rb_uw_scheduler_start(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* scheduler_run.c */

/* Ends the fibers that wait, whose `ensure` clauses have a second, and lets go of the loop. */
void rb_uw_scheduler_stop(struct rb_uw_scheduler *scheduler);

/* The hooks, one file a group. Each defines its methods. */
void rb_uw_init_scheduler_fiber(void);
void rb_uw_init_scheduler_block(void);
void rb_uw_init_scheduler_run(void);
void rb_uw_init_scheduler_time(void);
void rb_uw_init_scheduler_io(void);
void rb_uw_init_scheduler_select(void);
void rb_uw_init_scheduler_process(void);
void rb_uw_init_scheduler_close(void);
void rb_uw_init_scheduler_write(void);

#endif
