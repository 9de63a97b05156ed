/* Objects retained of an IO that is closed while operations use it, and the list of IOs being closed. Only before Ruby
 * 4.0: later versions notify a scheduler of closed IOs, and nothing must be retained. */
#ifndef RB_UPWELL_SCHEDULER_CLOSED_IO_H
#define RB_UPWELL_SCHEDULER_CLOSED_IO_H

#include <ruby/io.h>

#include "scheduler/scheduler_wait_record.h"

/* Releases the objects retained for an operation. */
void rb_uw_closed_io_release(struct rb_uw_closed_io_user *user);

/* Releases the objects retained for all operations of a closed loop. During a collection it must not touch other
 * objects. */
void rb_uw_scheduler_release_closed_io(struct rb_uw_scheduler *scheduler, bool in_collection);
void rb_uw_scheduler_mark_closed_io(const struct rb_uw_scheduler *scheduler);

/* Raises IOError if the IO of the operation is about to be closed. */
void rb_uw_check_open(const struct uw_operation *operation);

/* For scheduler_cut_off.c and the files that use it */

#define RB_UW_LEAVES_OPEN \
    0x00010000 /* Ruby's flag for a file that IO#close does not close: FMODE_EXTERNAL, earlier FMODE_PREP */

/* A descriptor of an IO. */
struct rb_uw_opened {
    VALUE io;
    rb_io_t *file;
    int fd;
};

/* A loop of another thread can be notified of a closed IO, but the closing thread can only wait for that loop while the
 * loop waits. Otherwise its thread may compute, or wait for the closing thread. So memory that Ruby would free is
 * retained until the last operation on this IO has ended. No pointer leads to a stack: before Ruby 3.2 the fibers of a
 * killed thread vanish at any point. */
struct rb_uw_closed_io {
    struct rb_uw_opened opened;
    size_t users;
    bool closing;   /* Ruby closes the IO, or waits for its process: the closing thread does the rest */
    bool left_open; /* Ruby does not close it */
    bool ours;      /* Ruby no longer closes the descriptor: its number must not be reused before the end */
    char *buffer;   /* Ruby's, into which an operation reads, or NULL */
};

/* An operation that uses a closed IO. The scheduler owns it, since the fibers may end first. */
struct rb_uw_closed_io_user {
    struct uw_list link;
    struct rb_uw_closed_io *closed_io;
};

/* A descriptor of an IO that is being closed, or was reopened. */
struct rb_uw_part {
    struct rb_uw_opened opened;
    bool reopened;
    bool writers;                      /* only writers are concerned */
    bool foreign;                      /* loops of other threads use it */
    bool queued;                       /* a loop's queue may still have an operation on it */
    bool reads_buffer;                 /* a fiber fills Ruby's own buffer */
    struct rb_uw_closed_io *closed_io; /* or NULL: no fiber waits for the descriptor */
    struct uw_list awaiting;           /* in rb_uw_awaiting: open until the loops have been woken */
};

/* Parts of IOs being closed, while their loops have yet to be woken. */
extern struct uw_list rb_uw_awaiting;
extern unsigned rb_uw_awaiting_forks; /* in a child, those are its parent's */

bool rb_uw_part_concerns(const struct rb_uw_part *part, const struct uw_operation *operation);

bool rb_uw_is_open(const struct rb_uw_opened *opened);
struct rb_uw_opened rb_uw_opened_of(VALUE io);

/* Makes Ruby keep the descriptor open. */
void rb_uw_leave_open(struct rb_uw_closed_io *closed_io);

/* Takes over the descriptor that Ruby has not closed. */
void rb_uw_take_descriptor(struct rb_uw_closed_io *closed_io);

void rb_uw_close_descriptor(struct rb_uw_closed_io *closed_io);

void rb_uw_closed_io_end(struct rb_uw_closed_io *closed_io);

#endif
