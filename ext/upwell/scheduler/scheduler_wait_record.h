/* The wait record: a fiber's reason to wait, and its end. */
#ifndef RB_UPWELL_SCHEDULER_WAIT_RECORD_H
#define RB_UPWELL_SCHEDULER_WAIT_RECORD_H

#include "scheduler/scheduler.h"

struct rb_uw_closed_io_user;

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

#endif
