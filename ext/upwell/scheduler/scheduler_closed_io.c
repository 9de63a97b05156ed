#include "scheduler/scheduler_closed_io.h"

#include "scheduler/scheduler.h"

#if RB_UW_RUBY(4, 0)

void rb_uw_check_open(const struct uw_operation *operation)
{
    (void)operation;
}

void rb_uw_closed_io_release(struct rb_uw_closed_io_user *user)
{
    (void)user;
}

void rb_uw_scheduler_release_closed_io(struct rb_uw_scheduler *scheduler, bool in_collection)
{
    (void)scheduler, (void)in_collection;
}

void rb_uw_scheduler_mark_closed_io(const struct rb_uw_scheduler *scheduler)
{
    (void)scheduler;
}

#else

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/after_fork.h"

#define STANDARD_MAX 2 /* descriptors that Ruby does not close either */

struct uw_list rb_uw_awaiting = {&rb_uw_awaiting, &rb_uw_awaiting};
unsigned rb_uw_awaiting_forks;

/* Ruby 3.3 and 3.4 deprecate the members of an IO, but have no replacement before 4.0. */
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

void rb_uw_leave_open(struct rb_uw_closed_io *closed_io)
{
    rb_io_t *file = closed_io->opened.file;

    closed_io->left_open = closed_io->opened.fd > STANDARD_MAX && !(file->mode & RB_UW_LEAVES_OPEN);
    if (closed_io->left_open)
        file->mode |= RB_UW_LEAVES_OPEN;
}

/* Takes over a descriptor that Ruby has not closed. Ruby may still be about to close it, or the application may have
 * changed its mode. */
void rb_uw_take_descriptor(struct rb_uw_closed_io *closed_io)
{
    const struct rb_uw_opened *opened = &closed_io->opened;

    if (!closed_io->left_open)
        return;
    closed_io->left_open = false;
    closed_io->ours = !rb_uw_is_open(opened);
    if (RFILE(opened->io)->fptr == opened->file) {
        closed_io->ours = closed_io->ours && opened->file->mode & RB_UW_LEAVES_OPEN;
        opened->file->mode &= ~RB_UW_LEAVES_OPEN;
    }
}

void rb_uw_close_descriptor(struct rb_uw_closed_io *closed_io)
{
    if (closed_io->ours)
        (void)close(closed_io->opened.fd);
    closed_io->ours = false;
}

#pragma GCC diagnostic pop

/* When all operations on it have ended. */
void rb_uw_closed_io_end(struct rb_uw_closed_io *closed_io)
{
    rb_uw_close_descriptor(closed_io);
    xfree(closed_io->buffer);
    closed_io->buffer = NULL;
    if (!closed_io->closing)
        free(closed_io);
}

/* Returns whether it was the last. */
static bool drop(struct rb_uw_closed_io_user *user)
{
    bool last = --user->closed_io->users == 0;

    uw_list_remove(&user->link);
    free(user);
    return last;
}

void rb_uw_closed_io_release(struct rb_uw_closed_io_user *user)
{
    struct rb_uw_closed_io *closed_io = user->closed_io;

    if (!drop(user))
        return;
    rb_uw_take_descriptor(closed_io);
    rb_uw_closed_io_end(closed_io);
}

void rb_uw_scheduler_release_closed_io(struct rb_uw_scheduler *scheduler, bool in_collection)
{
    while (!uw_list_empty(&scheduler->closed_io_users)) {
        struct rb_uw_closed_io_user *user =
            uw_container_of(scheduler->closed_io_users.next, struct rb_uw_closed_io_user, link);
        struct rb_uw_closed_io *closed_io = user->closed_io;

        if (!in_collection)
            rb_uw_closed_io_release(user);
        else if (drop(user))
            rb_uw_closed_io_end(closed_io);
    }
}

void rb_uw_scheduler_mark_closed_io(const struct rb_uw_scheduler *scheduler)
{
    for (const struct uw_list *link = scheduler->closed_io_users.next; link != &scheduler->closed_io_users;
         link = link->next)
        rb_gc_mark(uw_container_of(link, struct rb_uw_closed_io_user, link)->closed_io->opened.io);
}

static bool writes(const struct uw_operation *operation)
{
    return operation->opcode == UW_WRITE || (operation->opcode == UW_POLL && !(operation->length & (POLLIN | POLLPRI)));
}

bool rb_uw_part_concerns(const struct rb_uw_part *part, const struct uw_operation *operation)
{
    return operation->fd == part->opened.fd && (!part->writers || writes(operation));
}

/* A fiber that starts to wait during the close would get no notice. If another thread has closed the IO first, its
 * number may be another file's. */
void rb_uw_check_open(const struct uw_operation *operation)
{
    if (rb_uw_forked_since(rb_uw_awaiting_forks))
        return;
    for (const struct uw_list *link = rb_uw_awaiting.next; link != &rb_uw_awaiting; link = link->next) {
        const struct rb_uw_part *part = uw_container_of(link, struct rb_uw_part, awaiting);

        if (rb_uw_part_concerns(part, operation) && rb_uw_is_open(&part->opened))
            rb_raise(rb_eIOError, "stream closed in another thread");
    }
}

#endif
