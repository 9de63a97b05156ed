#include "scheduler/scheduler_process.h"

#include <poll.h>

#include "base/after_fork.h"
#include "base/module.h"
#include "base/system.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_wait_record.h"

static VALUE cStatus;
static ID id_wait, id_poll_process;

/* The end of a child process, to be waited for. */
struct process {
    int fd;
    unsigned forks;
};

static void close_descriptor(struct process *process)
{
    if (process->fd >= 0)
        uw_process_descriptor_close(process->fd, rb_uw_forked_since(process->forks));
    process->fd = -1;
}

static void free_process(void *pointer)
{
    close_descriptor(pointer);
    xfree(pointer);
}

/* An object owns the descriptor, since the fiber may never be resumed: on Ruby 3.1, after its thread was killed. */
static const rb_data_type_t process_type = {
    .wrap_struct_name = "Upwell process",
    .function = {.dfree = free_process},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

struct waiting {
    struct rb_uw_scheduler *scheduler;
    struct process *process;
};

static VALUE wait_for_end(VALUE argument)
{
    const struct waiting *waiting = (const struct waiting *)argument;
    struct rb_uw_wait wait;

    rb_uw_wait_init(&wait, waiting->scheduler);
    wait.on_io.operation.opcode = UW_POLL;
    wait.on_io.operation.fd = waiting->process->fd;
    wait.on_io.operation.length = POLLIN;
    rb_uw_wait_operation(&wait, Qnil, UW_FOREVER);
    return Qnil;
}

static VALUE close_process(VALUE argument)
{
    close_descriptor(((const struct waiting *)argument)->process);
    return Qnil;
}

/* Returns false, without waiting, where no descriptor can report the end: on an old kernel, in a sandbox, or when
 * descriptors have run out. */
static bool await_end(struct rb_uw_scheduler *scheduler, pid_t pid)
{
    struct waiting waiting = {.scheduler = scheduler};
    VALUE object = TypedData_Make_Struct(0, struct process, &process_type, waiting.process);

    waiting.process->forks = rb_uw_forks_now();
    waiting.process->fd = uw_process_descriptor(pid);
    if (waiting.process->fd < 0)
        return false;
    rb_ensure(wait_for_end, (VALUE)&waiting, close_process, (VALUE)&waiting);
    RB_GC_GUARD(object);
    return true;
}

/* Returns the status of a child that has ended, or an error's status; nil for a running child. */
static VALUE look(VALUE pid)
{
    return rb_funcall(cStatus, id_wait, 2, pid, INT2NUM(WNOHANG));
}

/*
 * For Process.wait, system, backticks.
 *
 * @param pid [Integer] of a child; -1, 0 and groups are polled repeatedly
 * @param flags [Integer] such as Process::WUNTRACED; these are polled, too
 * @return [Process::Status]
 */
static VALUE scheduler_process_wait(VALUE self, VALUE pid, VALUE flags)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    VALUE status;

    if (NUM2PIDT(pid) <= 0 || NUM2INT(flags) != 0)
        return rb_funcall(self, id_poll_process, 2, pid, INT2NUM(NUM2INT(flags)));
    status = look(pid);
    if (!NIL_P(status)) /* it has ended, or is no child of this process, which has descriptors too */
        return status;
    if (await_end(scheduler, NUM2PIDT(pid)))
        status = look(pid);
    /* macOS reports the end a moment before waitpid succeeds. */
    return NIL_P(status) ? rb_funcall(self, id_poll_process, 2, pid, flags) : status;
}

void rb_uw_init_scheduler_process(void)
{
    cStatus = rb_path2class("Process::Status");
    id_wait = rb_intern("wait");
    id_poll_process = rb_intern("poll_process");
    rb_define_method(rb_uw_cScheduler, "process_wait", scheduler_process_wait, 2);
}
