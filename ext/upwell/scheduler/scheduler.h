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

/* An operation on an IO, whose fiber is notified when the IO is closed. It is in the scheduler's lists as long as the
 * kernel may use the operation. */
struct rb_uw_io_operation {
    bool io_closed, io_reopened;
    struct rb_uw_closed_io_user *user; /* after its IO was closed, or NULL */
    struct uw_operation operation;
    struct uw_list descriptor, cut_off;
    VALUE io; /* or nil */
};

/* The members that the end of a wait touches come first: with many fibers each cache line comes from memory. */
struct rb_uw_wait {
    struct uw_timer timer;
    struct rb_uw_scheduler *scheduler;
    struct uw_list ready;
    VALUE fiber;
    unsigned generation;
    int32_t result; /* of the operation */
    bool over;      /* the wait has ended, or timed out */
    bool returned;  /* the fiber was resumed without an exception */
    bool timed_out;
    bool blocked;        /* is in `blocked` */
    bool gives_way;      /* it waits for nothing: others go first */
    uint8_t computed_ms; /* by its fiber before it began, as far as that was looked at */
    struct rb_uw_io_operation on_io;
    struct uw_list link, unblocked;
};

/* scheduler_class.c */
void rb_uw_init_scheduler(void);

/* scheduler.c */
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

/* scheduler_wait_record.c */

/* `seconds` is nil or a number: nanoseconds, or UW_FOREVER. Raises ArgumentError or TypeError. */
int64_t rb_uw_nanoseconds(VALUE seconds);

/* Converts as above, but returns UW_FOREVER for values beyond any clock, such as Infinity. */
int64_t rb_uw_nanoseconds_or_forever(VALUE seconds);

/* When a timer is due that begins now. */
int64_t rb_uw_deadline(int64_t timeout_ns);

/* Makes a record for the current fiber, to be waited for with a function of scheduler_fiber_wait.c. */
void rb_uw_wait_init(struct rb_uw_wait *wait, struct rb_uw_scheduler *scheduler);

/* Adds the record to the scheduler's `list`, and removes it. */
void rb_uw_wait_begin(struct rb_uw_wait *wait, struct uw_list *list);
void rb_uw_wait_forget(struct rb_uw_wait *wait);

/* A fiber is about to wait, or ends. If it had raised into another fiber and was due later, it was resumed early by an
 * exception into itself. Then the fiber that raised this exception is due later instead. */
void rb_uw_scheduler_note(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* An exception was raised into a waiting fiber, which runs now. The raiser transferred to this fiber, but this fiber
 * will transfer to the root. Notes that the raiser is due later. */
void rb_uw_scheduler_note_raiser(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Whether the record's loop has ended, or this is a forked child, whose parent waits. */
bool rb_uw_wait_is_void(const struct rb_uw_wait *wait);

/* Returns the rest of `timeout_ns`, the time-out that the wait began with. */
int64_t rb_uw_wait_left(const struct rb_uw_wait *wait, int64_t timeout_ns);

/* The record of a fiber that waits to be unblocked; or NULL. */
struct rb_uw_wait *rb_uw_wait_of_blocked(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Whether `unblock` came before the fiber blocked. */
bool rb_uw_wait_unblocked_early(struct rb_uw_wait *wait);

/* Makes the fiber ready. Safe without the interpreter's lock, on the loop's thread. */
void rb_uw_wait_end(struct rb_uw_wait *wait);

void rb_uw_io_operation_init(struct rb_uw_io_operation *on_io, uw_complete *complete);

/* Submits the operation, which is cancelled when `io` is closed: see scheduler_closed_io.h. */
void rb_uw_io_operation_begin(struct rb_uw_io_operation *on_io, struct rb_uw_scheduler *scheduler, VALUE io);

/* Call this after the operation has ended in the kernel, or was never started, and only while the loop is not void. */
void rb_uw_io_operation_end(struct rb_uw_io_operation *on_io);

/* Raises IOError if its IO was closed. */
void rb_uw_io_operation_check(const struct rb_uw_io_operation *on_io);

/* Lives on the stack of the fiber with the time-out. */
struct rb_uw_timeout {
    struct rb_uw_scheduler *scheduler;
    struct uw_timer timer;
    struct uw_list link; /* in scheduler->timeouts when the time is up */
    VALUE fiber, duration;
    int argc; /* of the exception */
    const VALUE *argv;
    unsigned generation;
    bool tried; /* an earlier attempt raised: the exception's creation may raise each time */
};

/* scheduler_timeouts.c */

/* Raises due time-outs into their fibers. */
void rb_uw_scheduler_raise_timeouts(struct rb_uw_scheduler *scheduler);

/* Returns the time-out whose exception has just reached `fiber`, or NULL. */
struct rb_uw_timeout *rb_uw_scheduler_take_raising(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* It is raised when its fiber waits again. */
void rb_uw_timeout_put_off(struct rb_uw_timeout *timeout);

/* Before the current fiber waits or submits an operation: raises its due time-out. */
void rb_uw_raise_due_timeout(struct rb_uw_scheduler *scheduler);

/* scheduler_root_fiber.c */

/* Whether other fibers than the current one are ready. */
static inline bool rb_uw_scheduler_others_ready(const struct rb_uw_scheduler *scheduler)
{
    return !uw_list_empty(&scheduler->batch) || !uw_list_empty(&scheduler->due) || !uw_list_empty(&scheduler->ready);
}

/* Whether fibers are ready, so that the loop must not wait. */
bool rb_uw_scheduler_ready(const struct rb_uw_scheduler *scheduler);

/* Whether an iteration has made a fiber ready. Safe without the interpreter's lock, on the loop's thread. */
bool rb_uw_scheduler_brought(const struct rb_uw_scheduler *scheduler);

/* Whether fibers wait at all. */
bool rb_uw_scheduler_pending(const struct rb_uw_scheduler *scheduler);

/* Before an iteration: cancels operations whose IO others have closed. */
void rb_uw_scheduler_cancel_closed(struct rb_uw_scheduler *scheduler);

/* Call this before an iteration that releases the interpreter's lock. Returns whether the iteration must not wait. */
bool rb_uw_scheduler_begin_turn(struct rb_uw_scheduler *scheduler);
void rb_uw_scheduler_end_turn(struct rb_uw_scheduler *scheduler);

/* Runs an iteration on any fiber, and resumes no other fiber. Releases the interpreter's lock where it may wait.
 * Returns what uw_loop_turn does. */
int rb_uw_scheduler_turn_here(struct rb_uw_scheduler *scheduler, int64_t wait_ns);

/* Resumes every fiber that the iteration made ready, on the fiber that runs the loop. */
void rb_uw_scheduler_run_ready(struct rb_uw_scheduler *scheduler);

/* Raises exceptions of other threads into the current fiber. */
void rb_uw_scheduler_raise_async(struct rb_uw_scheduler *scheduler);

/* Resumes other fibers until this one is resumed, or runs an iteration here. */
void rb_uw_scheduler_give_way(struct rb_uw_scheduler *scheduler);

/* scheduler_fiber_wait.c */

/* Suspends the fiber until wait->over or the time is up. */
void rb_uw_wait(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Suspends it until it is unblocked (true) or the time is up (false). */
bool rb_uw_wait_blocked(struct rb_uw_wait *wait, int64_t timeout_ns);

/* Submits wait->on_io.operation on `io`, and suspends the fiber until the operation has ended. Repeats once when `io`
 * is reopened meanwhile. Returns the result; a negative one after a time-out, with wait->timed_out set. Raises IOError
 * when `io` is closed meanwhile. */
int32_t rb_uw_wait_operation(struct rb_uw_wait *wait, VALUE io, int64_t timeout_ns);

/* Starts `fiber`, and returns when that fiber waits or ends. With nil, returns after all other fibers had their turn.
 */
void rb_uw_wait_turn(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* Cancels an operation whose completion ends `wait`, and suspends the fiber until the operation has ended. */
void rb_uw_wait_cancel(struct rb_uw_wait *wait, struct uw_operation *operation);

/* scheduler_block.c */

/* Makes the loop check for requests of other threads. */
void rb_uw_scheduler_wake(struct rb_uw_scheduler *scheduler);

/* Raises `exception` in `fiber` as soon as it waits. For any thread. */
void rb_uw_scheduler_interrupt(struct rb_uw_scheduler *scheduler, VALUE fiber, VALUE exception);

/* Drops the exceptions waiting for `fiber`. */
void rb_uw_scheduler_spare(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* scheduler_fiber.c */

/* Starts `fiber`; the caller is resumed when that fiber waits or ends. */
void rb_uw_scheduler_start(struct rb_uw_scheduler *scheduler, VALUE fiber);

/* scheduler_run.c */

/* Ends the waiting fibers, whose `ensure` clauses have a second, and releases the loop. */
void rb_uw_scheduler_stop(struct rb_uw_scheduler *scheduler);

/* The hooks, one file a group. Each defines its methods. */
void rb_uw_init_scheduler_fiber(void);
void rb_uw_init_scheduler_block(void);
void rb_uw_init_scheduler_run(void);
void rb_uw_init_scheduler_time(void);
void rb_uw_init_scheduler_io(void);
void rb_uw_init_scheduler_select(void);
void rb_uw_init_scheduler_process(void);
void rb_uw_init_scheduler_io_close(void);
void rb_uw_init_scheduler_write(void);

#endif
