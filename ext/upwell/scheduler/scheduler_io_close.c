#include "scheduler/scheduler_io_close.h"

#include <ruby/io.h>

#include "scheduler/scheduler.h"
#include "scheduler/scheduler_block.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_wait_record.h"

#if RB_UW_RUBY(4, 0)

/*
 * For IO#close, after the waiting fibers of the descriptor were interrupted.
 *
 * @param fd [Integer]
 * @return [true]
 */
static VALUE scheduler_io_close(VALUE self, VALUE fd)
{
    int error = uw_close(rb_uw_scheduler_use(self)->loop, NUM2INT(fd));

    if (error)
        rb_syserr_fail(-error, "closing an IO");
    return Qtrue;
}

void rb_uw_init_scheduler_io_close(void)
{
    rb_define_method(rb_uw_cScheduler, "io_close", scheduler_io_close, 1);
}

#else /* Before Ruby 4.0 no hook reports a close; this finds out. */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <ruby/ractor.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/after_fork.h"

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

static int mode_of(VALUE io)
{
    return RFILE(io)->fptr->mode;
}

static bool leaves_open(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && RFILE(io)->fptr && mode_of(io) & RB_UW_LEAVES_OPEN;
}

static void have_closed(VALUE io)
{
    RFILE(io)->fptr->mode &= ~RB_UW_LEAVES_OPEN;
}

#pragma GCC diagnostic pop

static void take_back(const struct rb_uw_scheduler *scheduler)
{
    for (const struct uw_list *link = scheduler->closed_io_users.next; link != &scheduler->closed_io_users;
         link = link->next) {
        struct rb_uw_closed_io *closed_io = uw_container_of(link, struct rb_uw_closed_io_user, link)->closed_io;

        rb_uw_take_descriptor(closed_io);
        rb_uw_close_descriptor(closed_io);
    }
}

/* The loops that keep an IO open are the parent's. In the child, closing an IO closes it, and IOs already closed are
 * closed there, too. */
static void take_all_back(void)
{
    for (const struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next)
        take_back(uw_container_of(link, struct rb_uw_scheduler, opened));
}

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
static void find_descriptors(struct rb_uw_part *parts, int count)
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

static void cut_off_all(struct rb_uw_part *part)
{
    for (struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next) {
        struct rb_uw_scheduler *scheduler = uw_container_of(link, struct rb_uw_scheduler, opened);

        if (may_wait(part, scheduler))
            cut_off(part, scheduler);
    }
}

/* Before Ruby closes it. */
static void begin_part(struct rb_uw_part *part)
{
    cut_off_all(part);
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
static void await_loops(const struct rb_uw_part *part)
{
    while (part->closed_io && part->foreign && in_use_by_any(part))
        rb_thread_schedule();
}

/* The descriptors that a method of IO is about to close. */
struct closing {
    struct rb_uw_part parts[2];
    int count;
    unsigned forks;
};

static void refuse(struct closing *closing)
{
    if (rb_uw_forked_since(rb_uw_awaiting_forks))
        uw_list_init(&rb_uw_awaiting);
    rb_uw_awaiting_forks = closing->forks = rb_uw_forks_now();
    for (int i = 0; i < closing->count; i++)
        uw_list_append(&rb_uw_awaiting, &closing->parts[i].awaiting);
}

static void admit(struct closing *closing)
{
    if (rb_uw_forked_since(closing->forks))
        return;
    for (int i = 0; i < closing->count; i++)
        uw_list_remove(&closing->parts[i].awaiting);
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

static void end_part(struct rb_uw_part *part)
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

static VALUE close_all(VALUE argument)
{
    struct closing *closing = (struct closing *)argument;

    find_descriptors(closing->parts, closing->count);
    for (int i = 0; i < closing->count; i++)
        begin_part(&closing->parts[i]);
    refuse(closing);
    for (int i = 0; i < closing->count; i++)
        await_loops(&closing->parts[i]);
    admit(closing);
    return rb_call_super(0, NULL);
}

static VALUE end_closing(VALUE argument)
{
    struct closing *closing = (struct closing *)argument;

    admit(closing);
    for (int i = 0; i < closing->count; i++)
        end_part(&closing->parts[i]);
    return Qnil;
}

/* Schedulers, and the IOs of their fibers, belong to the first ractor. And through IO's ancestors an application can
 * call this on another object. */
static rb_ractor_local_key_t first_ractor;

static bool any_may_wait(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && RTEST(rb_ractor_local_storage_value(first_ractor)) &&
           !uw_list_empty(&rb_uw_schedulers) && RFILE(io)->fptr;
}

static void add_part(struct closing *closing, VALUE io, bool writers)
{
    struct rb_uw_part *part = &closing->parts[closing->count++];

    *part = (struct rb_uw_part){.opened.io = io, .writers = writers};
    uw_list_init(&part->awaiting);
}

static VALUE close_parts(struct closing *closing)
{
    if (closing->count == 0)
        return rb_call_super(0, NULL);
    return rb_ensure(close_all, (VALUE)closing, end_closing, (VALUE)closing);
}

/*
 * IO#close: fibers that wait for this IO get an IOError.
 *
 * @return [nil]
 */
static VALUE close_for_waiting(VALUE self)
{
    struct closing closing = {.count = 0};

    if (any_may_wait(self)) {
        VALUE writer = rb_io_get_write_io(self);

        add_part(&closing, self, false);
        if (writer != self)
            add_part(&closing, writer, false);
    }
    return close_parts(&closing);
}

static bool is_socket(VALUE io)
{
    struct stat status;

    return fstat(rb_uw_opened_of(io).fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Whether one half of an IO is closed; a socket with the other half open is only shut down. */
static bool closes_half(VALUE io, bool tied, int other)
{
    if (is_socket(io))
        return !(mode_of(io) & other);
    return tied || (mode_of(io) & (FMODE_DUPLEX | other)) != other;
}

/*
 * IO#close_read: as #close. Readers of a socket that is shut down see end of file.
 *
 * @return [nil]
 */
static VALUE close_read_for_waiting(VALUE self)
{
    struct closing closing = {.count = 0};

    if (any_may_wait(self) && closes_half(self, rb_io_get_write_io(self) != self, FMODE_WRITABLE))
        add_part(&closing, self, false);
    return close_parts(&closing);
}

/*
 * IO#close_write: as #close. Fibers waiting to write would not notice that a socket is shut down.
 *
 * @return [nil]
 */
static VALUE close_write_for_waiting(VALUE self)
{
    struct closing closing = {.count = 0};

    if (any_may_wait(self)) {
        VALUE writer = rb_io_get_write_io(self);
        bool whole = closes_half(writer, writer != self, FMODE_READABLE);

        if (whole || is_socket(writer))
            add_part(&closing, writer, !whole);
    }
    return close_parts(&closing);
}

static bool holds_left_open(const struct rb_uw_scheduler *scheduler, VALUE io)
{
    for (const struct uw_list *link = scheduler->closed_io_users.next; link != &scheduler->closed_io_users;
         link = link->next) {
        const struct rb_uw_closed_io *closed_io = uw_container_of(link, struct rb_uw_closed_io_user, link)->closed_io;

        if (closed_io->left_open && closed_io->opened.io == io)
            return true;
    }
    return false;
}

/* Whether it is being closed, and Ruby keeps it open meanwhile. */
static bool is_left_open(VALUE io)
{
    if (!any_may_wait(io))
        return false;
    for (const struct uw_list *link = rb_uw_schedulers.next; link != &rb_uw_schedulers; link = link->next)
        if (holds_left_open(uw_container_of(link, struct rb_uw_scheduler, opened), io))
            return true;
    return false;
}

static void check_not_left_open(VALUE io)
{
    if (is_left_open(io))
        rb_raise(rb_eIOError, "closed stream");
}

/* The arguments of IO#reopen. */
struct reopening {
    VALUE io;
    int count;
    const VALUE *values;
    bool leaves_open; /* the application wants it so, of this IO or of the other */
};

static VALUE reopen(VALUE argument)
{
    const struct reopening *reopening = (const struct reopening *)argument;

    return rb_call_super(reopening->count, reopening->values);
}

/* The number has not changed. The IO now has the other IO's mode, whose own close may have begun meanwhile. */
static VALUE end_reopening(VALUE argument)
{
    const struct reopening *reopening = (const struct reopening *)argument;
    struct rb_uw_part part = {.opened.io = reopening->io, .reopened = true};

    if (!reopening->leaves_open && leaves_open(reopening->io) && !is_left_open(reopening->io))
        have_closed(reopening->io);
    if (any_may_wait(reopening->io)) {
        find_descriptors(&part, 1);
        cut_off_all(&part);
    }
    return Qnil;
}

/*
 * IO#reopen: fibers that wait for this IO wait for the new file.
 *
 * @return [IO]
 * @raise [IOError] when another thread closes one of the two
 */
static VALUE reopen_for_waiting(int argc, VALUE *argv, VALUE self)
{
    VALUE other = argc == 1 ? rb_io_check_io(argv[0]) : Qnil;
    struct reopening reopening = {self, argc, NIL_P(other) ? argv : &other,
                                  .leaves_open = leaves_open(self) || leaves_open(other)};

    check_not_left_open(self);
    check_not_left_open(other);
    return rb_ensure(reopen, (VALUE)&reopening, end_reopening, (VALUE)&reopening);
}

void rb_uw_init_scheduler_io_close(void)
{
    /* Document-module: Upwell::Scheduler::Closing
     * Prepended to IO before Ruby 4.0; later versions notify a scheduler of a closed IO. This happens at load time,
     * since an application may freeze IO later. */
    VALUE closing = rb_define_module_under(rb_uw_cScheduler, "Closing");

    /* Document-module: Upwell::Scheduler::HalfClosing
     * Prepended to IO before Ruby 4.0, and to BasicSocket, which has its own methods. */
    VALUE half_closing = rb_define_module_under(rb_uw_cScheduler, "HalfClosing");

    if (pthread_atfork(NULL, NULL, take_all_back))
        rb_memerror();
    first_ractor = rb_ractor_local_storage_value_newkey();
    rb_ractor_local_storage_value_set(first_ractor, Qtrue);
    rb_ext_ractor_safe(true); /* other ractors have no Upwell scheduler */
    rb_define_method(closing, "close", close_for_waiting, 0);
    rb_define_method(closing, "reopen", reopen_for_waiting, -1);
    rb_define_method(half_closing, "close_read", close_read_for_waiting, 0);
    rb_define_method(half_closing, "close_write", close_write_for_waiting, 0);
    rb_ext_ractor_safe(false);
    rb_funcall(rb_uw_cScheduler, rb_intern("private_constant"), 2, ID2SYM(rb_intern("Closing")),
               ID2SYM(rb_intern("HalfClosing")));
    rb_prepend_module(rb_cIO, closing);
    rb_prepend_module(rb_cIO, half_closing);
    rb_prepend_module(rb_path2class("BasicSocket"), half_closing);
}

#endif
