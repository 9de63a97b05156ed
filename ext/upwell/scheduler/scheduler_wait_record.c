#include "scheduler/scheduler_wait_record.h"

#include <errno.h>
#include <time.h>

#include "scheduler/scheduler.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_fiber_wait.h"

int64_t rb_uw_nanoseconds(VALUE seconds)
{
    struct timespec time;

    if (NIL_P(seconds))
        return UW_FOREVER;
    time = rb_time_timespec_interval(seconds);
    if (time.tv_sec >= UW_FOREVER / UW_NS_PER_SECOND)
        return UW_FOREVER;
    return time.tv_sec * UW_NS_PER_SECOND + time.tv_nsec;
}

int64_t rb_uw_nanoseconds_or_forever(VALUE seconds)
{
    if (NIL_P(seconds) || !(NUM2DBL(seconds) < (double)(UW_FOREVER / UW_NS_PER_SECOND))) /* NaN is not less */
        return UW_FOREVER;
    return rb_uw_nanoseconds(seconds);
}

int64_t rb_uw_deadline(int64_t timeout_ns)
{
    int64_t now_ns;

    if (timeout_ns == 0)
        return 0; /* long past: due in the next iteration, while now would be rounded up to the next tick */
    now_ns = uw_clock_ns();
    return timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : INT64_MAX;
}

/* Behind those that have computed no longer. */
static struct uw_list *place_among_due(const struct rb_uw_wait *wait)
{
    struct uw_list *due = &wait->scheduler->due, *place = due;

    while (place->previous != due &&
           uw_container_of(place->previous, struct rb_uw_wait, ready)->computed_ms > wait->computed_ms)
        place = place->previous;
    return place;
}

/* Makes the fiber ready before the one at `place`, unless it is ready already. */
static void end_before(struct rb_uw_wait *wait, struct uw_list *place)
{
    wait->over = true;
    if (uw_list_empty(&wait->ready))
        uw_list_append(place, &wait->ready);
}

void rb_uw_wait_end(struct rb_uw_wait *wait)
{
    end_before(wait, wait->gives_way ? &wait->scheduler->ready : place_among_due(wait));
}

/* A writing fiber has the IO's lock, and Ruby finds the newest lock fastest. So the last writer goes first. */
static void completed(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct rb_uw_wait *wait = uw_container_of(operation, struct rb_uw_wait, on_io.operation);

    (void)loop;
    wait->result = result;
    wait->timed_out = wait->timed_out && result < 0;
    if (operation->opcode == UW_WRITE && wait->computed_ms == 0)
        end_before(wait, wait->scheduler->due.next);
    else
        rb_uw_wait_end(wait);
}

static void expired(struct uw_loop *loop, struct uw_timer *timer)
{
    struct rb_uw_wait *wait = uw_container_of(timer, struct rb_uw_wait, timer);

    if (wait->over)
        return;
    wait->timed_out = true;
    if (wait->on_io.operation.pending)
        uw_cancel(loop, &wait->on_io.operation);
    else
        rb_uw_wait_end(wait);
}

void rb_uw_scheduler_note_raiser(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (!NIL_P(scheduler->running) && scheduler->running != fiber)
        rb_ary_push(scheduler->left, scheduler->running);
    scheduler->running = fiber;
}

void rb_uw_scheduler_note(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    if (!scheduler->root_waits)
        return;
    if (RARRAY_LEN(scheduler->left) > 0 && RTEST(rb_ary_includes(scheduler->left, fiber))) {
        rb_ary_delete(scheduler->left, fiber); /* for a missing element it would call the block */
        rb_uw_scheduler_note_raiser(scheduler, fiber);
    }
    scheduler->running = fiber;
}

void rb_uw_wait_init(struct rb_uw_wait *wait, struct rb_uw_scheduler *scheduler)
{
    *wait = (struct rb_uw_wait){.scheduler = scheduler,
                                .timer.expire = expired,
                                .fiber = rb_fiber_current(),
                                .generation = scheduler->generation};
    uw_list_init(&wait->link);
    uw_list_init(&wait->ready);
    uw_list_init(&wait->unblocked);
    rb_uw_io_operation_init(&wait->on_io, completed);
    rb_uw_scheduler_note(scheduler, wait->fiber);
}

void rb_uw_wait_begin(struct rb_uw_wait *wait, struct uw_list *list)
{
    uw_list_append(list, &wait->link);
    wait->scheduler->waiting++;
}

bool rb_uw_wait_is_void(const struct rb_uw_wait *wait)
{
    return wait->generation != wait->scheduler->generation || rb_uw_scheduler_is_copy(wait->scheduler);
}

void rb_uw_wait_forget(struct rb_uw_wait *wait)
{
    struct rb_uw_scheduler *scheduler = wait->scheduler;
    st_data_t fiber = wait->fiber;

    if (rb_uw_wait_is_void(wait))
        return;
    if (scheduler->begun == wait)
        scheduler->begun = NULL;
    rb_uw_io_operation_end(&wait->on_io);
    uw_timer_stop(scheduler->loop, &wait->timer);
    if (wait->blocked)
        st_delete(scheduler->blocked, &fiber, NULL);
    uw_list_remove(&wait->ready);
    uw_list_remove(&wait->unblocked);
    uw_list_remove(&wait->link);
    scheduler->waiting--;
}

int64_t rb_uw_wait_left(const struct rb_uw_wait *wait, int64_t timeout_ns)
{
    int64_t left_ns = wait->timer.deadline_ns - uw_clock_ns();

    if (timeout_ns == UW_FOREVER)
        return UW_FOREVER;
    return left_ns > 0 ? left_ns : 0;
}

/* Another thread's `unblock` may come before the fiber blocks. */
bool rb_uw_wait_unblocked_early(struct rb_uw_wait *wait)
{
    VALUE early = wait->scheduler->early;

    return RARRAY_LEN(early) > 0 && !NIL_P(rb_ary_delete(early, wait->fiber));
}

static void note_sleeping(struct rb_uw_scheduler *scheduler)
{
    while (!uw_list_empty(&scheduler->sleeping)) {
        struct rb_uw_wait *wait = uw_container_of(scheduler->sleeping.next, struct rb_uw_wait, link);

        st_insert(scheduler->blocked, wait->fiber, (st_data_t)wait);
        wait->blocked = true;
        uw_list_remove(&wait->link);
        uw_list_append(&scheduler->waits, &wait->link);
    }
}

struct rb_uw_wait *rb_uw_wait_of_blocked(struct rb_uw_scheduler *scheduler, VALUE fiber)
{
    st_data_t record;

    if (st_lookup(scheduler->blocked, fiber, &record))
        return (struct rb_uw_wait *)record;
    note_sleeping(scheduler);
    return st_lookup(scheduler->blocked, fiber, &record) ? (struct rb_uw_wait *)record : NULL;
}

void rb_uw_io_operation_init(struct rb_uw_io_operation *on_io, uw_complete *complete)
{
    *on_io = (struct rb_uw_io_operation){.operation.complete = complete, .io = Qnil};
    uw_list_init(&on_io->descriptor);
    uw_list_init(&on_io->cut_off);
}

void rb_uw_io_operation_begin(struct rb_uw_io_operation *on_io, struct rb_uw_scheduler *scheduler, VALUE io)
{
    on_io->io = io;
    uw_list_append(&scheduler->descriptors[(unsigned)on_io->operation.fd % RB_UW_DESCRIPTOR_BUCKETS],
                   &on_io->descriptor);
    uw_submit(scheduler->loop, &on_io->operation);
}

void rb_uw_io_operation_end(struct rb_uw_io_operation *on_io)
{
    if (on_io->user)
        rb_uw_closed_io_release(on_io->user);
    on_io->user = NULL;
    uw_list_remove(&on_io->descriptor);
    uw_list_remove(&on_io->cut_off);
}

void rb_uw_io_operation_check(const struct rb_uw_io_operation *on_io)
{
    if (on_io->io_closed)
        rb_raise(rb_eIOError, "stream closed in another thread");
}
