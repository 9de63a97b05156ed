#include "scheduler/scheduler_fiber.h"

#include "base/after_fork.h"
#include "base/module.h"
#include "base/process_exceptions.h"
#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_transfer.h"
#include "scheduler/scheduler_wait_record.h"

static VALUE cFiber;
static ID id_report, id_new;

static VALUE call_block(VALUE block)
{
    return rb_proc_call_with_block(block, 0, NULL, Qnil);
}

static VALUE report(VALUE pair)
{
    return rb_funcall(RARRAY_AREF(pair, 0), id_report, 1, RARRAY_AREF(pair, 1));
}

/* In a server a fiber is part of the application, which must not end the process. */
static bool ends_thread(VALUE self, VALUE error)
{
    return rb_uw_scheduler_serves(rb_uw_scheduler_get(self)) ? rb_uw_ends_process(error) : rb_uw_ends_thread(error);
}

/* An error ends its own fiber only: it is reported now, and raised after all fibers have ended. An exception that ends
 * the process or the thread passes on to the root at once. */
static void end_in_error(VALUE self, int state)
{
    VALUE error = rb_errinfo();

    if (ends_thread(self, error))
        rb_jump_tag(state);
    rb_set_errinfo(Qnil);
    if (rb_uw_is_error(error, rb_uw_eStop))
        return;
    if (NIL_P(rb_uw_scheduler_get(self)->error))
        rb_uw_scheduler_get(self)->error = error;
    rb_protect(report, rb_assoc_new(self, error), &state);
    if (state && rb_uw_ends_thread(rb_errinfo())) /* such as Ctrl-C; $stderr may also be closed, or full */
        rb_jump_tag(state);
    rb_set_errinfo(Qnil);
}

static VALUE run_fiber(RB_BLOCK_CALL_FUNC_ARGLIST(yielded, self))
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(self);
    unsigned generation = scheduler->generation, forks = rb_uw_forks_now();
    VALUE block = scheduler->block;
    int state;

    (void)yielded, (void)argc, (void)argv, (void)blockarg;
    scheduler->block = Qnil;
    scheduler->fibers++;
    rb_protect(call_block, block, &state);
    if (rb_uw_forked_since(forks))
        rb_uw_end_child(state);
    if (generation == scheduler->generation) {
        scheduler->fibers--;
        rb_uw_scheduler_note(scheduler, rb_fiber_current());
    }
    if (state)
        end_in_error(self, state);
    RB_GC_GUARD(self);
    RB_GC_GUARD(block);
    return Qnil;
}

/* All fibers of a scheduler share one Proc, which costs more than the rest of a fiber: it finds its block there. */
static VALUE new_fiber(struct rb_uw_scheduler *scheduler, VALUE options)
{
    if (NIL_P(scheduler->body))
        scheduler->body = rb_proc_new(run_fiber, scheduler->self);
#if RB_UW_RUBY(3, 2)
    if (!NIL_P(options))
        return rb_funcall_with_block_kw(cFiber, id_new, 1, &options, scheduler->body, RB_PASS_KEYWORDS);
#endif
    (void)options;
    return rb_funcall_with_block(cFiber, id_new, 0, NULL, scheduler->body);
}

void rb_uw_scheduler_start(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (scheduler->root_waits)
        rb_uw_wait_turn(scheduler, fiber);
    else
        rb_uw_as_root(scheduler, rb_uw_root_transfer, fiber);
}

struct beginning {
    VALUE self, block, fiber;
};

static VALUE begin(VALUE argument)
{
    const struct beginning *beginning = (const struct beginning *)argument;
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(beginning->self);

    scheduler->block = beginning->block; /* read as soon as the fiber begins, which is next */
    rb_uw_scheduler_start(scheduler, beginning->fiber);
    return beginning->fiber;
}

/* A FiberError before the fiber has begun means that Ruby had no stack for it. The start must not be repeated. */
static VALUE raise_without_stack(VALUE argument, VALUE error)
{
    const struct beginning *beginning = (const struct beginning *)argument;
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_get(beginning->self);

    if (scheduler->block != beginning->block)
        rb_exc_raise(error); /* the fiber has begun */
    scheduler->block = Qnil;
    for (long i = RARRAY_LEN(scheduler->left) - 1; i >= 0; i--) /* rb_ary_delete would call the block */
        if (RARRAY_AREF(scheduler->left, i) == beginning->fiber)
            rb_ary_delete_at(scheduler->left, i);
    if (scheduler->running == beginning->fiber)
        scheduler->running = Qnil;
    return rb_funcall(beginning->self, rb_intern("raise_without_stack"), 1, error);
}

/*
 * For Fiber.schedule: starts a fiber, which runs until it waits for something.
 *
 * An error that the block does not rescue ends this fiber only. It is reported on $stderr, unless
 * Thread.current.report_on_exception is false, and #run raises the first of them when all fibers have ended.
 *
 * @param storage [Hash, nil, true] as for Fiber.new, since Ruby 3.2
 * @return [Fiber]
 * @raise [Upwell::Error] when the scheduler is closed
 * @raise [FiberError] when memory for its stack is exhausted, or too many fibers exist: see vm.max_map_count
 */
static VALUE scheduler_fiber(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct beginning beginning = {.self = self};

    if (!rb_block_given_p())
        rb_raise(rb_eArgError, "no block given: the fiber needs a block to run");
    beginning.fiber = new_fiber(scheduler, rb_keyword_given_p() ? argv[argc - 1] : Qnil);
    beginning.block = rb_block_proc();
    return rb_rescue2(begin, (VALUE)&beginning, raise_without_stack, (VALUE)&beginning, rb_uw_eFiberError, (VALUE)0);
}

/* Resumes a fiber, whatever it waits for; the current fiber is resumed when that one waits or ends. For
 * async_gem_tasks.rb. */
static VALUE scheduler_switch_to(VALUE self, VALUE fiber)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    struct rb_uw_wait *wait = rb_uw_wait_of_blocked(scheduler, fiber);

    if (wait) {
        wait->over = true;
        uw_list_remove(&wait->unblocked);
        uw_list_remove(&wait->ready);
    }
    rb_uw_scheduler_start(scheduler, fiber);
    return Qnil;
}

/*
 * Lets other ready fibers run first.
 *
 * @return [nil]
 */
static VALUE scheduler_yield(VALUE self)
{
    rb_uw_wait_turn(rb_uw_scheduler_use(self), Qnil);
    return Qnil;
}

void rb_uw_init_scheduler_fiber(void)
{
    cFiber = rb_path2class("Fiber");
    id_report = rb_intern("report");
    id_new = rb_intern("new");
    rb_define_method(rb_uw_cScheduler, "fiber", scheduler_fiber, -1);
    rb_define_method(rb_uw_cScheduler, "yield", scheduler_yield, 0);
    rb_define_private_method(rb_uw_cScheduler, "switch_to", scheduler_switch_to, 1);
}
