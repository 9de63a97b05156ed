#include "scheduler/scheduler_holds.h"

#if RB_UW_RUBY(4, 0)

void rb_uw_check_open(const struct uw_operation *operation)
{
    (void)operation;
}

void rb_uw_hold_release(struct rb_uw_hold *hold)
{
    (void)hold;
}

void rb_uw_scheduler_release_holds(struct rb_uw_scheduler *scheduler, bool in_collection)
{
    (void)scheduler, (void)in_collection;
}

void rb_uw_scheduler_mark_holds(const struct rb_uw_scheduler *scheduler)
{
    (void)scheduler;
}

#else

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/forks.h"

#define STANDARD_MAX 2 /* descriptors that Ruby does not close either */

struct uw_list rb_uw_awaiting = {&rb_uw_awaiting, &rb_uw_awaiting};
unsigned rb_uw_awaiting_forks;

/* Ruby 3.3 and 3.4 call the members of an IO deprecated; there is nothing in their place before 4.0. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

bool rb_uw_is_open(const struct rb_uw_opened *opened)
{
    return opened->file && RFILE(opened->io)->fptr == opened->file && opened->file->fd >= 0;
}

struct rb_uw_opened rb_uw_opened_of(VALUE io)
{
    struct rb_uw_opened opened = {.io = io, .file = RFILE(io)->fptr, .fd = -1};

    if (rb_uw_is_open(&opened))
        opened.fd = opened.file->fd;
    return opened;
}

void rb_uw_leave_open(struct rb_uw_kept *kept)
{
    rb_io_t *file = kept->opened.file;

    kept->left_open = kept->opened.fd > STANDARD_MAX && !(file->mode & RB_UW_LEAVES_OPEN);
    if (kept->left_open)
        file->mode |= RB_UW_LEAVES_OPEN;
}

/* Takes what Ruby has left open; it may be about to close it, or have been told otherwise by the application. */
void rb_uw_take_descriptor(struct rb_uw_kept *kept)
{
    const struct rb_uw_opened *opened = &kept->opened;

    if (!kept->left_open)
        return;
    kept->left_open = false;
    kept->ours = !rb_uw_is_open(opened);
    if (RFILE(opened->io)->fptr == opened->file) {
        kept->ours = kept->ours && opened->file->mode & RB_UW_LEAVES_OPEN;
        opened->file->mode &= ~RB_UW_LEAVES_OPEN;
    }
}

void rb_uw_close_descriptor(struct rb_uw_kept *kept)
{
    if (kept->ours)
        (void)close(kept->opened.fd);
    kept->ours = false;
}

#pragma GCC diagnostic pop

/* When all operations on it have ended. */
void rb_uw_end_kept(struct rb_uw_kept *kept)
{
    rb_uw_close_descriptor(kept);
    xfree(kept->buffer);
    kept->buffer = NULL;
    if (!kept->closing)
        free(kept);
}

/* Returns whether it was the last. */
static bool drop(struct rb_uw_hold *hold)
{
    bool last = --hold->kept->holds == 0;

    uw_list_remove(&hold->link);
    free(hold);
    return last;
}

void rb_uw_hold_release(struct rb_uw_hold *hold)
{
    struct rb_uw_kept *kept = hold->kept;

    if (!drop(hold))
        return;
    rb_uw_take_descriptor(kept);
    rb_uw_end_kept(kept);
}

void rb_uw_scheduler_release_holds(struct rb_uw_scheduler *scheduler, bool in_collection)
{
    while (!uw_list_empty(&scheduler->holds)) {
        struct rb_uw_hold *hold = uw_owner(scheduler->holds.next, struct rb_uw_hold, link);
        struct rb_uw_kept *kept = hold->kept;

        if (!in_collection)
            rb_uw_hold_release(hold);
        else if (drop(hold))
            rb_uw_end_kept(kept);
    }
}

void rb_uw_scheduler_mark_holds(const struct rb_uw_scheduler *scheduler)
{
    for (const struct uw_list *link = scheduler->holds.next; link != &scheduler->holds; link = link->next)
        rb_gc_mark(uw_owner(link, struct rb_uw_hold, link)->kept->opened.io);
}

static bool writes(const struct uw_operation *operation)
{
    return operation->verb == UW_WRITE || (operation->verb == UW_POLL && !(operation->length & (POLLIN | POLLPRI)));
}

bool rb_uw_part_concerns(const struct rb_uw_part *part, const struct uw_operation *operation)
{
    return operation->fd == part->opened.fd && (!part->writers || writes(operation));
}

/* Nobody would tell who comes now. When another thread has closed the IO first, its number is another's. */
void rb_uw_check_open(const struct uw_operation *operation)
{
    if (rb_uw_forked_since(rb_uw_awaiting_forks))
        return;
    for (const struct uw_list *link = rb_uw_awaiting.next; link != &rb_uw_awaiting; link = link->next) {
        const struct rb_uw_part *part = uw_owner(link, struct rb_uw_part, awaiting);

        if (rb_uw_part_concerns(part, operation) && rb_uw_is_open(&part->opened))
            rb_raise(rb_eIOError, "stream closed in another thread");
    }
}

#endif
