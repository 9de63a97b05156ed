#include "scheduler/scheduler_timeouts.h"

#include "scheduler/scheduler.h"
#include "scheduler/scheduler_transfer.h"

struct rb_uw_timeout *rb_uw_scheduler_take_raising(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    struct rb_uw_timeout *timeout = scheduler->raising;

    if (!timeout || timeout->fiber != fiber)
        return NULL;
    scheduler->raising = NULL;
    return timeout;
}

void rb_uw_timeout_put_off(struct rb_uw_timeout *timeout)
{
    uw_list_remove(&timeout->link);
    uw_list_append(&timeout->scheduler->timeouts, &timeout->link);
    timeout->scheduler->root_wanted = true;
}

void rb_uw_raise_due_timeout(struct rb_uw_scheduler *scheduler)
{
    for (struct uw_list *link = scheduler->timeouts.next; link != &scheduler->timeouts; link = link->next) {
        struct rb_uw_timeout *timeout = uw_container_of(link, struct rb_uw_timeout, link);

        if (timeout->fiber != rb_fiber_current())
            continue;
        uw_list_remove(link);
        rb_exc_raise(rb_make_exception(timeout->argc, timeout->argv));
    }
}

/* Raises into the fiber of the first time-out of `due`. The time-out remains in the list until then: the fiber's `stop`
 * removes it. Returns the state of an exception that ends the thread, or 0. */
static int raise_first(struct rb_uw_scheduler *scheduler, struct uw_list *due)
{
    struct rb_uw_timeout *timeout = uw_container_of(due->next, struct rb_uw_timeout, link);
    unsigned generation = scheduler->generation;
    bool raised;
    int state;

    scheduler->raising = timeout;
    raised = rb_uw_root_raise(scheduler, timeout->fiber, timeout->argc, timeout->argv, &state);
    scheduler->raising = NULL;
    if (generation != scheduler->generation)
        uw_list_init(due); /* void */
    if (due->next != &timeout->link)
        return state;
    uw_list_remove(&timeout->link);
    if (!raised && !(state && timeout->tried))
        uw_list_append(&scheduler->timeouts, &timeout->link);
    timeout->tried = state != 0;
    return state;
}

void rb_uw_scheduler_raise_timeouts(struct rb_uw_scheduler *scheduler)
{
    struct uw_list due;

    uw_list_init(&due);
    uw_list_move(&due, &scheduler->timeouts);
    while (!uw_list_empty(&due)) {
        int state = raise_first(scheduler, &due);

        if (!state)
            continue;
        uw_list_move(&scheduler->timeouts, &due);
        scheduler->root_wanted = true; /* the exception may end a fiber instead of the root */
        rb_jump_tag(state);
    }
}
