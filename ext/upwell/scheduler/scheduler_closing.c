/* An IO that is closed while fibers wait for it: they get an IOError, as threads do. Before Ruby 4.0 no hook reports a
 * close. */
#include "scheduler/scheduler_cut_off.h"

#if !RB_UW_RUBY(4, 0)

#include <pthread.h>
#include <sys/stat.h>

#include "base/after_fork.h"
#include "scheduler/scheduler_reopening.h"

/* Ruby 3.3 and 3.4 deprecate the members of an IO, but have no replacement before 4.0. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int mode_of(VALUE io)
{
    return RFILE(io)->fptr->mode;
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

static VALUE close_all(VALUE argument)
{
    struct closing *closing = (struct closing *)argument;

    rb_uw_parts_find(closing->parts, closing->count);
    for (int i = 0; i < closing->count; i++)
        rb_uw_part_begin(&closing->parts[i]);
    refuse(closing);
    for (int i = 0; i < closing->count; i++)
        rb_uw_part_await_loops(&closing->parts[i]);
    admit(closing);
    return rb_call_super(0, NULL);
}

static VALUE end_closing(VALUE argument)
{
    struct closing *closing = (struct closing *)argument;

    admit(closing);
    for (int i = 0; i < closing->count; i++)
        rb_uw_part_end(&closing->parts[i]);
    return Qnil;
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

    if (rb_uw_any_may_wait(self)) {
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

    if (rb_uw_any_may_wait(self) && closes_half(self, rb_io_get_write_io(self) != self, FMODE_WRITABLE))
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

    if (rb_uw_any_may_wait(self)) {
        VALUE writer = rb_io_get_write_io(self);
        bool whole = closes_half(writer, writer != self, FMODE_READABLE);

        if (whole || is_socket(writer))
            add_part(&closing, writer, !whole);
    }
    return close_parts(&closing);
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
    rb_uw_init_scheduler_cut_off();
    rb_ext_ractor_safe(true); /* other ractors have no Upwell scheduler */
    rb_define_method(closing, "close", close_for_waiting, 0);
    rb_uw_init_scheduler_reopening(closing);
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
