/* The hook for processes: a descriptor of the process becomes readable when it ends. */
#include "scheduler/scheduler.h"

#include <fcntl.h>
#include <poll.h>
#include <ruby/io.h>

#include "base/module.h"
#include "base/system.h"

static VALUE cStatus;
static ID id_wait, id_poll_process;

struct child {
    struct rb_uw_scheduler *scheduler;
    int fd;
    VALUE io; /* has it closed though the fiber may never go on: on Ruby 3.1, that of a thread that is killed */
};

static VALUE wait_for_end(VALUE argument)
{
    const struct child *child = (const struct child *)argument;
    struct rb_uw_wait wait;

    rb_uw_wait_init(&wait, child->scheduler);
    wait.on_io.operation.verb = UW_POLL;
    wait.on_io.operation.fd = child->fd;
    wait.on_io.operation.length = POLLIN;
    rb_uw_wait_operation(&wait, child->io, UW_FOREVER);
    return Qnil;
}

static VALUE close_child(VALUE argument)
{
    return rb_io_close(((const struct child *)argument)->io);
}

/* The status of a child that has ended, or that tells of an error; nil of one that runs. */
static VALUE look(VALUE pid)
{
    return rb_funcall(cStatus, id_wait, 2, pid, INT2NUM(WNOHANG));
}

/*
 * For Process.wait, system, backticks.
 *
 * @param pid [Integer] of a child; -1, 0 and groups are looked for again and again
 * @param flags [Integer] of Process::WUNTRACED and such; likewise
 * @return [Process::Status]
 */
static VALUE scheduler_process_wait(VALUE self, VALUE pid, VALUE flags)
{
    struct child child = {.scheduler = rb_uw_scheduler_use(self)};
    VALUE status;

    if (NUM2PIDT(pid) <= 0 || NUM2INT(flags) != 0)
        return rb_funcall(self, id_poll_process, 2, pid, flags);
    status = look(pid);
    if (!NIL_P(status)) /* it has ended, or is no child of this process, which has descriptors too */
        return status;
    child.fd = uw_process_descriptor(NUM2PIDT(pid));
    if (child.fd < 0) /* an old kernel, a sandbox, or no descriptor left */
        return rb_funcall(self, id_poll_process, 2, pid, flags);
    child.io = rb_io_fdopen(child.fd, O_RDONLY, NULL);
    rb_ensure(wait_for_end, (VALUE)&child, close_child, (VALUE)&child);
    status = look(pid);
    /* macOS tells of the end a moment before it can be waited for. */
    return NIL_P(status) ? rb_funcall(self, id_poll_process, 2, pid, flags) : status;
}

void rb_uw_init_scheduler_process(void)
{
    cStatus = rb_path2class("Process::Status");
    id_wait = rb_intern("wait");
    id_poll_process = rb_intern("poll_process");
    rb_define_method(rb_uw_cScheduler, "process_wait", scheduler_process_wait, 2);
}
