#include "loop/watch_wait.h"

#include <errno.h>
#include <pthread.h>
#include <ruby/io.h>

#include "base/after_fork.h"
#include "base/gvl_release.h"
#include "base/module.h"

#define CLOSED_LOOKS_PER_TURN 64
#define LOCK_HELD_NS (10 * UW_NS_PER_MS)   /* by a loop that always has events; Ruby itself would wait 100 ms */
#define CLOSED_WAIT_NS (10 * UW_NS_PER_MS) /* while not every watch was looked at */

static struct uw_list opened = {&opened, &opened};

/* The threads that wait are the parent's. */
static void forget_threads(void)
{
    for (struct uw_list *link = opened.next; link != &opened; link = link->next) {
        struct rb_uw_watches *watches = uw_container_of(link, struct rb_uw_watches, opened);

        watches->waiting = watches->blocking = false;
    }
}

void rb_uw_init_watches(void)
{
    if (pthread_atfork(NULL, NULL, forget_threads))
        rb_memerror();
}

static uw_complete polled;

/* Changes */

/* The descriptor of the IO now; -1 when it is closed. */
static int descriptor_of(VALUE io)
{
#ifdef HAVE_RB_IO_CLOSED_P
    return RTEST(rb_io_closed_p(io)) ? -1 : rb_io_descriptor(io);
#else
    return RFILE(io)->fptr ? RFILE(io)->fptr->fd : -1;
#endif
}

static void start(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    if (watch->timed) {
        uw_timer_start(&watches->loop, &watch->timer, watch->timer.deadline_ns);
        return;
    }
    if (!NIL_P(watch->io))
        watch->poll.fd = descriptor_of(watch->io);
    if (watch->poll.fd >= 0) {
        watch->poll.complete = polled;
        uw_submit(&watches->loop, &watch->poll);
        return;
    }
    rb_uw_watch_end(watches, watch); /* closing an IO ends its watch */
    rb_uw_watch_release(watches, watch);
}

static void stop(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    uw_timer_stop(&watches->loop, &watch->timer);
    uw_cancel(&watches->loop, &watch->poll);
    rb_uw_watch_release(watches, watch);
}

static void carry_out_changes(struct rb_uw_watches *watches)
{
    struct rb_uw_watch *watch;

    while ((watch = watches->changed)) {
        watches->changed = watch->next_changed;
        if (!watches->changed)
            watches->changed_last = &watches->changed;
        watch->changed = false;
        if (watch->ended)
            stop(watches, watch);
        else
            start(watches, watch);
    }
}

/* Events arrive on the waiting thread, perhaps without the interpreter's lock */

static void fire(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    watch->fired = true;
    watch->next_fired = NULL;
    *watches->fired_last = watch;
    watches->fired_last = &watch->next_fired;
}

/* A watch may be freed only with the interpreter's lock. */
static void note_cancelled(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    watch->fired = true;
    watch->next_fired = watches->cancelled;
    watches->cancelled = watch;
}

static void polled(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct rb_uw_watch *watch = uw_container_of(operation, struct rb_uw_watch, poll);

    if (watch->fired) /* and its event not delivered yet: that is enough */
        return;
    watch->result = result;
    if (result == -ECANCELED)
        note_cancelled(uw_container_of(loop, struct rb_uw_watches, loop), watch);
    else
        fire(uw_container_of(loop, struct rb_uw_watches, loop), watch);
}

static void expired(struct uw_loop *loop, struct uw_timer *timer)
{
    fire(uw_container_of(loop, struct rb_uw_watches, loop), uw_container_of(timer, struct rb_uw_watch, timer));
}

/* Waiting */

/* The next loop starts every watch again. */
static void close_loop(struct rb_uw_watches *watches)
{
    uw_list_remove(&watches->opened);
    uw_loop_close(&watches->loop);
    watches->open = false;
    for (struct uw_list *link = watches->all.next; link != &watches->all; link = link->next) {
        struct rb_uw_watch *watch = rb_uw_watch_of_link(link);
        bool running = watch->poll.pending || watch->timer.active;

        watch->poll.pending = watch->timer.active = false;
        if (running)
            rb_uw_watch_change(watches, watch);
    }
}

/* Another thread waits, or this thread waits and a trap handler runs inside the wait. */
static void check_not_waiting(const struct rb_uw_watches *watches)
{
    if (!watches->waiting)
        return;
    if (watches->thread == rb_thread_current())
        rb_raise(rb_eUpwellError, "this thread is already waiting: a signal handler may call `signal` or `wakeup`, but "
                                  "not wait or close");
    rb_raise(rb_eUpwellError, "another thread is waiting on this object: only one thread can wait at a time; create "
                              "one object for each thread");
}

void rb_uw_watches_close(struct rb_uw_watches *watches)
{
    check_not_waiting(watches);
    if (watches->open)
        close_loop(watches);
}

/* The kernel lets only the thread that opened a loop wait on it, and a child process would disturb its parent's. */
static void open_loop(VALUE self, struct rb_uw_watches *watches)
{
    VALUE thread = rb_thread_current();
    int error;

    if (watches->open && watches->thread == thread && !rb_uw_forked_since(watches->forks))
        return;
    if (watches->open)
        close_loop(watches);
    error = uw_loop_open(&watches->loop, watches->backend, expired);
    if (error)
        rb_syserr_fail(-error, "cannot open an event loop");
    rb_update_max_fd(watches->loop.wakeup.fd);
    rb_update_max_fd(watches->loop.wakeup.tell_fd);
    RB_OBJ_WRITE(self, &watches->thread, thread);
    watches->forks = atomic_load(&rb_uw_forks);
    watches->open = true;
    uw_list_append(&opened, &watches->opened);
}

static int64_t time_left(int64_t deadline_ns)
{
    int64_t now_ns;

    if (deadline_ns == 0 || deadline_ns == UW_FOREVER)
        return deadline_ns;
    now_ns = uw_clock_ns();
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

/* Whether a wait that began at `wake_calls` has a reason to return. */
static bool over(const struct rb_uw_watches *watches, uint64_t wake_calls)
{
    return watches->fired || watches->woken || watches->interrupted || watches->loop.wake_calls != wake_calls;
}

static VALUE end_waiting(VALUE argument)
{
    struct rb_uw_watches *watches = (struct rb_uw_watches *)argument;

    watches->waiting = watches->blocking = false;
    return Qnil;
}

/* Runs `work` while other threads or trap handlers may run. */
static void wait_in(VALUE (*work)(VALUE), VALUE argument, struct rb_uw_watches *watches)
{
    watches->waiting = true;
    rb_ensure(work, argument, end_waiting, (VALUE)watches);
    watches->lock_let_ns = watches->loop.now_ns;
}

static VALUE let_others(VALUE unused)
{
    (void)unused;
    rb_thread_schedule();
    return Qnil;
}

struct wait {
    struct rb_uw_watches *watches;
    uint64_t wake_calls;
    int64_t wait_ns;
    int status;
};

/* Whether another thread or a trap handler has just changed the watches. */
static bool altered(const struct rb_uw_watches *watches, uint64_t wake_calls)
{
    return over(watches, wake_calls) || watches->changed || rb_uw_forked_since(watches->forks);
}

static VALUE block(VALUE argument)
{
    struct wait *wait = (struct wait *)argument;
    struct rb_uw_watches *watches = wait->watches;

    rb_uw_raise_what_was_put_off();
    if (altered(watches, wait->wake_calls))
        return Qnil;
    watches->blocking = true;
    wait->status = rb_uw_turn_until_interrupted(&watches->loop, wait->wait_ns, &watches->interrupted);
    return Qnil;
}

/* First takes events without releasing the interpreter's lock. Under load events are always ready, and releasing the
 * lock in every iteration would be costly. Other threads get it when the loop has to wait, or after a while. */
static int turn(struct rb_uw_watches *watches, uint64_t wake_calls, int64_t wait_ns)
{
    struct wait wait = {watches, wake_calls, wait_ns, uw_loop_turn(&watches->loop, 0)};

    if (wait.status || wait_ns == 0)
        return wait.status;
    if (!over(watches, wake_calls))
        wait_in(block, (VALUE)&wait, watches);
    else if (watches->loop.now_ns - watches->lock_let_ns >= LOCK_HELD_NS)
        wait_in(let_others, Qnil, watches);
    return wait.status;
}

/* An IO may be closed without being unwatched, and io_uring would keep its connection open. So each iteration checks a
 * few watches, and events trigger one check of all. */
static void end_closed(struct rb_uw_watches *watches)
{
    for (int looks = 0; looks < CLOSED_LOOKS_PER_TURN && watches->unchecked > 0; looks++, watches->unchecked--) {
        struct rb_uw_watch *watch = rb_uw_watch_of_link(watches->all.next);

        if (uw_list_empty(&watches->all))
            return;
        uw_list_remove(&watch->link);
        uw_list_append(&watches->all, &watch->link);
        if (!watch->ended && !NIL_P(watch->io) && descriptor_of(watch->io) < 0) {
            rb_uw_watch_end(watches, watch);
            rb_uw_watch_change(watches, watch);
        }
    }
}

static int64_t next_wait(const struct rb_uw_watches *watches, int64_t deadline_ns)
{
    int64_t wait_ns = watches->woken ? 0 : time_left(deadline_ns);

    return watches->unchecked > 0 && wait_ns > CLOSED_WAIT_NS ? CLOSED_WAIT_NS : wait_ns;
}

static void release_cancelled(struct rb_uw_watches *watches)
{
    struct rb_uw_watch *watch, *next = watches->cancelled;

    watches->cancelled = NULL;
    while ((watch = next)) {
        next = watch->next_fired;
        watch->fired = false;
        rb_uw_watch_release(watches, watch);
    }
}

/* Watches with an event that were unwatched before it came. */
static void drop_ended(struct rb_uw_watches *watches)
{
    struct rb_uw_watch *watch, *next = watches->fired;

    watches->fired = NULL;
    watches->fired_last = &watches->fired;
    while ((watch = next)) {
        next = watch->next_fired;
        watch->fired = false;
        if (watch->ended)
            rb_uw_watch_release(watches, watch);
        else
            fire(watches, watch);
    }
}

/* An iteration may end early without an event, or because of a wake-up for an earlier wait. */
bool rb_uw_watches_wait(VALUE self, struct rb_uw_watches *watches, int64_t deadline_ns)
{
    uint64_t wake_calls;
    int status;
    bool woken;

    check_not_waiting(watches);
    watches->interrupted = false;
    do {
        open_loop(self, watches); /* once more: a trap handler has forked */
        wake_calls = watches->loop.wake_calls;
        end_closed(watches);
        carry_out_changes(watches);
        status = turn(watches, wake_calls, next_wait(watches, deadline_ns));
        release_cancelled(watches);
        drop_ended(watches);
    } while (!status && !over(watches, wake_calls) && time_left(deadline_ns) > 0);
    woken = watches->woken;
    watches->woken = false;
    watches->unchecked = watches->slab.taken;
    if (status)
        rb_syserr_fail(-status, "the loop cannot wait for events; wait again, or close it");
    return woken;
}

/* Delivering */

struct rb_uw_watch *rb_uw_watches_take(struct rb_uw_watches *watches)
{
    struct rb_uw_watch *watch;

    while ((watch = watches->fired)) {
        watches->fired = watch->next_fired;
        if (!watches->fired)
            watches->fired_last = &watches->fired;
        watch->taken = true;
        if (!watch->ended)
            return watch;
        rb_uw_watch_deliver(watches, watch);
    }
    return NULL;
}

/* A late timer skips missed events. */
static void go_on(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    if (watch->timed) {
        int64_t now_ns = uw_clock_ns();

        watch->timer.deadline_ns += watch->interval_ns;
        if (watch->timer.deadline_ns < now_ns)
            watch->timer.deadline_ns = now_ns;
    }
    if (!watch->poll.pending)
        rb_uw_watch_change(watches, watch);
}

bool rb_uw_watch_deliver(struct rb_uw_watches *watches, struct rb_uw_watch *watch)
{
    bool counts = !watch->ended && (NIL_P(watch->io) || descriptor_of(watch->io) >= 0);

    watch->fired = watch->taken = false;
    /* A descriptor that cannot be watched has one event, so that its user gets the error. */
    if (counts && watch->recurring && watch->result >= 0) {
        go_on(watches, watch);
        return true;
    }
    if (!watch->ended) {
        rb_uw_watch_end(watches, watch);
        rb_uw_watch_change(watches, watch); /* the kernel may still have to be asked for more events */
    }
    rb_uw_watch_release(watches, watch);
    return counts;
}

/* Counting */

static void add_stats(const struct rb_uw_watches *watches, struct rb_uw_stats *stats)
{
    stats->loops++;
    stats->operations += uw_loop_operations(&watches->loop);
    stats->timers += watches->loop.timers.count;
    for (struct uw_list *link = watches->all.next; link != &watches->all; link = link->next) {
        const struct rb_uw_watch *watch = rb_uw_watch_of_link(link);

        stats->watches += watch->keyed;
        stats->descriptors += watch->keyed && !watch->timed;
    }
}

void rb_uw_watches_add_stats(struct rb_uw_stats *stats)
{
    for (struct uw_list *link = opened.next; link != &opened; link = link->next) {
        const struct rb_uw_watches *watches = uw_container_of(link, struct rb_uw_watches, opened);

        if (!rb_uw_forked_since(watches->forks)) /* else it is the parent's */
            add_stats(watches, stats);
    }
}
