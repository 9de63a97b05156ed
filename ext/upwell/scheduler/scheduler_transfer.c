#include "scheduler/scheduler_transfer.h"

#include "base/after_fork.h"
#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_wait_record.h"

struct root {
    struct rb_uw_scheduler *scheduler;
    rb_uw_root_work *work;
    VALUE argument, before;
    unsigned generation, forks;
};

void rb_uw_end_child(int state)
{
    if (state && rb_uw_is_error(rb_errinfo(), rb_uw_eStop)) { /* as it ends a fiber, without a report */
        rb_set_errinfo(Qnil);
        state = 0;
    }
    ruby_stop(state);
}

static VALUE work_as_root(VALUE argument)
{
    struct root *root = (struct root *)argument;

    root->work(root->scheduler, root->argument);
    return Qnil;
}

/* In a child forked by a trap handler the root itself continues. Otherwise a fiber has ended without run_fiber in
 * scheduler_fiber.c. */
static bool child_of_fiber(const struct root *root)
{
    return rb_uw_forked_since(root->forks) &&
           (root->scheduler->root_waits || root->generation != root->scheduler->generation);
}

/* An exception may have come during an iteration, or with a fiber's return. */
static void end_as_root(struct root *root)
{
    root->scheduler->root_waits = root->scheduler->relays = root->scheduler->turning = false;
    root->scheduler->running = Qnil;
    root->scheduler->root = root->generation == root->scheduler->generation ? root->before : Qnil;
}

void rb_uw_as_root(struct rb_uw_scheduler *scheduler, rb_uw_root_work *work, VALUE argument)
{
    struct root root = {scheduler, work, argument, scheduler->root, scheduler->generation, rb_uw_forks_now()};
    int state;

    scheduler->root = rb_fiber_current();
    rb_protect(work_as_root, (VALUE)&root, &state);
    if (child_of_fiber(&root))
        rb_uw_end_child(state);
    end_as_root(&root);
    if (state)
        rb_jump_tag(state);
    RB_GC_GUARD(root.before);
    RB_GC_GUARD(argument);
}

int rb_uw_root_protect(VALUE (*function)(VALUE), VALUE argument)
{
    unsigned forks = rb_uw_forks_now();
    int state;

    rb_protect(function, argument, &state);
    if (rb_uw_forked_since(forks))
        rb_uw_end_child(state);
    return state;
}

static void transfer_to(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    unsigned forks = rb_uw_forks_now();

    scheduler->root_waits = true;
    scheduler->running = fiber;
    rb_fiber_transfer(fiber, 0, NULL);
    if (rb_uw_forked_since(forks))
        rb_uw_end_child(0);
    scheduler->running = Qnil;
    scheduler->root_waits = false;
}

VALUE rb_uw_root_take(struct uw_list *link)
{
    struct rb_uw_wait *wait = uw_container_of(link, struct rb_uw_wait, ready);

    uw_list_remove(&wait->ready);
    return wait->fiber;
}

void rb_uw_root_transfer(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    transfer_to(scheduler, fiber);
    while (!uw_list_empty(&scheduler->starters))
        transfer_to(scheduler, rb_uw_root_take(scheduler->starters.previous));
}

struct raising {
    VALUE fiber;
    int argc;
    const VALUE *argv;
};

static VALUE raise_in_fiber(VALUE argument)
{
    const struct raising *raising = (const struct raising *)argument;

    if (raising->fiber == rb_fiber_current())
        rb_exc_raise(rb_make_exception(raising->argc, raising->argv));
    return rb_fiber_raise(raising->fiber, raising->argc, raising->argv);
}

/* Whether `fiber` was unblocked but has not run yet. An exception now would drop the reason, such as a queue's element.
 */
static bool unblocked(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    st_data_t record;

    return st_lookup(scheduler->blocked, fiber, &record) && ((struct rb_uw_wait *)record)->over &&
           !((struct rb_uw_wait *)record)->timed_out;
}

bool rb_uw_root_raise(struct rb_uw_scheduler *scheduler, VALUE fiber, int argc, const VALUE *argv, int *state)
{
    struct raising raising = {fiber, argc, argv};
    bool gone_on;

    *state = 0;
    if (unblocked(scheduler, fiber))
        return false;
    scheduler->root_waits = true;
    scheduler->running = Qnil;
    *state = rb_uw_root_protect(raise_in_fiber, (VALUE)&raising);
    scheduler->root_waits = false;
    gone_on = !NIL_P(scheduler->running) || fiber == rb_fiber_current();
    scheduler->running = Qnil;
    if (!*state)
        return true;
    if (!rb_uw_is_error(rb_errinfo(), rb_uw_eFiberError))
        return gone_on;
    rb_set_errinfo(Qnil);
    *state = 0;
    return false;
}
