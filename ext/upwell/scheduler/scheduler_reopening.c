/* An IO that is reopened while fibers wait for it: they wait for the new file. */
#include "scheduler/scheduler_reopening.h"

#include "scheduler/scheduler_cut_off.h"

#if !RB_UW_RUBY(4, 0)

/* Ruby 3.3 and 3.4 deprecate the members of an IO, but have no replacement before 4.0. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static bool leaves_open(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && RFILE(io)->fptr && RFILE(io)->fptr->mode & RB_UW_LEAVES_OPEN;
}

static void have_closed(VALUE io)
{
    RFILE(io)->fptr->mode &= ~RB_UW_LEAVES_OPEN;
}

#pragma GCC diagnostic pop

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
    if (!rb_uw_any_may_wait(io))
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
    if (rb_uw_any_may_wait(reopening->io)) {
        rb_uw_parts_find(&part, 1);
        rb_uw_part_cut_off(&part);
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

void rb_uw_init_scheduler_reopening(VALUE module)
{
    rb_define_method(module, "reopen", reopen_for_waiting, -1);
}

#endif
