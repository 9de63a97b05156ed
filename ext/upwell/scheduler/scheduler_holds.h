/* What is kept of an IO that is closed while operations use it, and which IOs are being closed. Before Ruby 4.0, which
 * tells a scheduler of closed IOs itself: there is nothing to be kept then. */
#ifndef RB_UPWELL_SCHEDULER_HOLDS_H
#define RB_UPWELL_SCHEDULER_HOLDS_H

#include <ruby/io.h>

#include "scheduler/scheduler.h"

/* What was kept for an operation is not needed any more. */
void rb_uw_hold_release(struct rb_uw_hold *hold);

/* Likewise for all operations of a loop that is closed. In a collection, no other object must be looked at. */
void rb_uw_scheduler_release_holds(struct rb_uw_scheduler *scheduler, bool in_collection);
void rb_uw_scheduler_mark_holds(const struct rb_uw_scheduler *scheduler);

/* Raises IOError if the IO of the operation is about to be closed. */
void rb_uw_check_open(const struct uw_operation *operation);

/* Between scheduler_holds.c and scheduler_close.c */

#define RB_UW_LEAVES_OPEN \
    0x00010000 /* Ruby's mode of what IO#close does not close: FMODE_EXTERNAL, earlier FMODE_PREP */

/* One descriptor of an IO. */
struct rb_uw_opened {
    VALUE io;
    rb_io_t *file;
    int fd;
};

/* A loop of another thread can be told that an IO is closed, but waited for only while it waits itself: else its thread
 * may compute, or wait for the one that closes. So what Ruby would free is kept until the last operation on this IO has
 * ended. No stack is pointed to: before Ruby 3.2 the fibers of a thread that is killed vanish, whatever they do. */
struct rb_uw_kept {
    struct rb_uw_opened opened;
    size_t holds;
    bool closing;   /* Ruby closes the IO, or waits for its process: the end is for whoever closes */
    bool left_open; /* Ruby is told not to close it */
    bool ours;      /* Ruby has not: its number must not be another file's before the end */
    char *buffer;   /* Ruby's, into which one reads, or NULL */
};

/* An operation's part in it; the scheduler's, which may end without its fibers. */
struct rb_uw_hold {
    struct uw_list link;
    struct rb_uw_kept *kept;
};

/* One descriptor of an IO that is being closed, or was reopened. */
struct rb_uw_part {
    struct rb_uw_opened opened;
    bool reopened;
    bool writers;            /* it concerns only those that write */
    bool foreign;            /* loops of other threads use it */
    bool queued;             /* one of them may have what it shall do with it in a queue yet */
    bool reads_buffer;       /* a fiber fills Ruby's own buffer */
    struct rb_uw_kept *kept; /* or NULL: no fiber waits for it */
    struct uw_list awaiting; /* in the list of those that are open yet, as their loops have to be woken */
};

/* Parts of what is being closed, as their loops have to be woken. */
extern struct uw_list rb_uw_awaiting;
extern unsigned rb_uw_awaiting_forks; /* in a child, those are its parent's */

bool rb_uw_part_concerns(const struct rb_uw_part *part, const struct uw_operation *operation);

bool rb_uw_is_open(const struct rb_uw_opened *opened);
struct rb_uw_opened rb_uw_opened_of(VALUE io);

/* Has Ruby leave the descriptor open. */
void rb_uw_leave_open(struct rb_uw_kept *kept);

/* Takes what Ruby has left open. */
void rb_uw_take_descriptor(struct rb_uw_kept *kept);

void rb_uw_close_descriptor(struct rb_uw_kept *kept);

void rb_uw_end_kept(struct rb_uw_kept *kept);

#endif
