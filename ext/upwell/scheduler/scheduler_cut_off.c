/* Cancels the operations on an IO that is closed or was reopened, and retains what they use. */
#include "scheduler/scheduler_cut_off.h"

#if !RB_UW_RUBY(4, 0)

#include <fcntl.h>
#include <ruby/ractor.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/scheduler_block.h"
#include "scheduler/scheduler_root_fiber.h"

/* Ruby 3.3 and 3.4 deprecate the members of an IO, but have no replacement before 4.0. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static bool in_buffer(const struct rb_uw_part *part, const struct uw_operation *operation)
{
    const rb_io_t *file = part->opened.file;

    return file->rbuf.ptr && operation->data == file->rbuf.ptr;
}

/* A thread that has just read into the buffer, and has not been resumed yet, finds the data in the copy. */
static void take_buffer(struct rb_uw_part *part)
{
    rb_io_t *file = part->opened.file;
    char *copy = xmalloc((size_t)file->rbuf.capa);

    memcpy(copy, file->rbuf.ptr, (size_t)file->rbuf.capa);
    part->closed_io->buffer = file->rbuf.ptr;
    file->rbuf.ptr = copy;
}

#pragma GCC diagnostic pop

/* Ruby's allocator must not be used: the collector frees schedulers. */
static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        rb_memerror();
    return memory;
}

static void keep_for(struct rb_uw_part *part, struct rb_uw_scheduler *scheduler, struct rb_uw_io_operation *on_io)
{
    struct rb_uw_closed_io_user *user = allocate(sizeof *user);

    if (!part->closed_io) {
        part->closed_io = allocate(sizeof *part->closed_io);
        part->closed_io->opened = part->opened;
        part->closed_io->closing = true;
    }
    user->closed_io = part->closed_io;
    user->closed_io->users++;
    uw_list_append(&scheduler->closed_io_users, &user->link);
    on_io->user = user;
    part->reads_buffer = part->reads_buffer || in_buffer(part, &on_io->operation);
}

static struct uw_list *bucket_of(const struct rb_uw_part *part, struct rb_uw_scheduler *scheduler)
{
    return &scheduler->descriptors[(unsigned)part->opened.fd % RB_UW_DESCRIPTOR_BUCKETS];
}

static void mark(struct rb_uw_part *part, struct rb_uw_scheduler *scheduler, struct rb_uw_io_operation *on_io)
{
    if (part->reopened) {
        on_io->io_reopened = true;
        return;
    }
    keep_for(part, scheduler, on_io);
    on_io->io_closed = true;
}

static void cut_off(struct rb_uw_part *part, struct rb_uw_scheduler *scheduler)
{
    struct uw_list *bucket = bucket_of(part, scheduler);
    bool own = scheduler == rb_uw_scheduler_current(), pending = false;

    for (struct uw_list *link = bucket->next; link != bucket; link = link->next) {
        struct rb_uw_io_operation *on_io = uw_container_of(link, struct rb_uw_io_operation, descriptor);

        if (on_io->io_closed || !rb_uw_part_concerns(part, &on_io->operation))
            continue;
        mark(part, scheduler, on_io);
        pending = true;
        if (own)
            uw_cancel(scheduler->loop, &on_io->operation);
        else if (uw_list_empty(&on_io->cut_off)) /* nor reopened before */
            uw_list_append(&scheduler->cut_off, &on_io->cut_off);
    }
    if (pending && own) {
        rb_uw_scheduler_cancel_closed(scheduler);
        uw_loop_flush_sync(scheduler->loop);
    }
    if (pending && !own) {
        part->foreign = true;
        part->queued = part->queued || uw_loop_queues(scheduler->loop);
        rb_uw_scheduler_wake(scheduler);
    }
}

static bool may_wait(const struct rb_uw_part *part, struct rb_uw_scheduler *scheduler)
{
    return !rb_uw_scheduler_is_copy(scheduler) && !uw_list_empty(bucket_of(part, scheduler));
}

/* Whether fibers of another thread, which may have ended, seem to wait for it. */
static bool others_may_wait(const struct rb_uw_part *part)
{
    const struct rb_uw_scheduler *own = rb_uw_scheduler_current();

    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next) {
        struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (scheduler != own && may_wait(part, scheduler))
            return true;
    }
    return false;
}

/* Other threads may run meanwhile. */
void rb_uw_parts_find(struct rb_uw_part *parts, int count)
{
    bool others = false;

    for (int i = 0; i < count; i++) {
        parts[i].opened = rb_uw_opened_of(parts[i].opened.io);
        others = others || others_may_wait(&parts[i]);
    }
    if (!others)
        return;
    rb_uw_schedulers_end_lost();
    for (int i = 0; i < count; i++)
        parts[i].opened = rb_uw_opened_of(parts[i].opened.io);
}

void rb_uw_part_cut_off(struct rb_uw_part *part)
{
    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next) {
        struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (may_wait(part, scheduler))
            cut_off(part, scheduler);
    }
}

/* Before Ruby closes it. */
void rb_uw_part_begin(struct rb_uw_part *part)
{
    rb_uw_part_cut_off(part);
    if (part->reads_buffer)
        take_buffer(part);
    if (part->foreign)
        rb_uw_leave_open(part->closed_io);
}

/* Whether a loop that is waiting now may still execute a fiber's operation. Once it waits again, it will not. */
static bool in_use(const struct rb_uw_part *part, struct rb_uw_scheduler *scheduler)
{
    const struct uw_list *bucket = bucket_of(part, scheduler);

    if (!scheduler->turning || !may_wait(part, scheduler))
        return false;
    for (const struct uw_list *link = bucket->next; link != bucket; link = link->next) {
        const struct rb_uw_closed_io_user *user = uw_container_of(link, struct rb_uw_io_operation, descriptor)->user;

        if (user && user->closed_io == part->closed_io)
            return true;
    }
    return false;
}

static bool in_use_by_any(const struct rb_uw_part *part)
{
    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next)
        if (in_use(part, uw_container_of(link, struct rb_uw_scheduler, opened)))
            return true;
    return false;
}

/* Data that arrives after the close is not for earlier waits. */
void rb_uw_part_await_loops(const struct rb_uw_part *part)
{
    while (part->closed_io && part->foreign && in_use_by_any(part))
        rb_thread_schedule();
}

/* Operations not yet submitted to the kernel then find an empty file. Without a free descriptor they may read later
 * data. */
static void empty(int fd)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nothing < 0)
        return;
    (void)uw_replace(nothing, fd);
    (void)close(nothing);
}

void rb_uw_part_end(struct rb_uw_part *part)
{
    struct rb_uw_closed_io *closed_io = part->closed_io;

    if (!closed_io)
        return;
    closed_io->closing = false;
    rb_uw_take_descriptor(closed_io);
    if (closed_io->users == 0)
        rb_uw_closed_io_end(closed_io);
    else if (part->queued && closed_io->ours)
        empty(closed_io->opened.fd);
}

/* Schedulers, and the IOs of their fibers, belong to the first ractor. And through IO's ancestors an application can
 * call this on another object. */
static rb_ractor_local_key_t first_ractor;

bool rb_uw_any_may_wait(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && RTEST(rb_ractor_local_storage_value(first_ractor)) &&
           !uw_list_empty(&rb_uw_schedulers) && RFILE(io)->fptr;
}

void rb_uw_init_scheduler_cut_off(void)
{
    first_ractor = rb_ractor_local_storage_value_newkey();
    rb_ractor_local_storage_value_set(first_ractor, Qtrue);
}

#endif
