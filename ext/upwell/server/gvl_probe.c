/* Whether a worker computes: it has the interpreter's lock or waits for the lock. Otherwise it does work without the
 * lock. Ruby 3.3 and later report this. On older versions, and where Ruby cannot, no worker's state is known. */
#include "server/gvl_probe.h"

#include <ruby.h>
#include <ruby/thread.h>

#include "base/after_fork.h"
#include "server/request_queue.h"

#ifdef HAVE_RB_INTERNAL_THREAD_EVENT_DATA_T_THREAD

#define WATCHED_MAX 256 /* of any further workers nothing is known: each event of each thread goes through all */

/* The watched threads, known by address alone. rb_internal_thread_specific_get would read a thread's memory, which
 * another thread may be compacting. An entry is written while its thread has the lock, when no event of that thread
 * arrives. */
static struct {
    _Atomic VALUE thread; /* 0: none */
    struct uw_worker *worker;
} watched[WATCHED_MAX];

static atomic_int watched_end;
static atomic_uint watched_forks; /* see rb_uw_forks: threads of another process are not watched */

/* Returns the thread's index, or -1. */
static int place_of(VALUE thread)
{
    int end = atomic_load(&watched_end);

    for (int i = 0; i < end; i++)
        if (atomic_load_explicit(&watched[i].thread, memory_order_acquire) == thread)
            return i;
    return -1;
}

/* Runs on any thread, with or without the lock. */
static void tell(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused)
{
    int place = rb_uw_forked_since(atomic_load(&watched_forks)) ? -1 : place_of(data->thread);

    (void)unused;
    if (place < 0)
        return;
    if (event == RUBY_INTERNAL_THREAD_EVENT_READY)
        uw_worker_computes(watched[place].worker);
    else
        uw_worker_leaves(watched[place].worker);
}

static int free_place(void)
{
    int place = place_of(0), end = atomic_load(&watched_end);

    if (place >= 0 || end == WATCHED_MAX)
        return place;
    atomic_store(&watched_end, end + 1);
    return end;
}

static void enter(VALUE thread, struct uw_worker *worker)
{
    int place = free_place();

    if (place < 0)
        return;
    uw_worker_computes(worker);
    watched[place].worker = worker;
    atomic_store_explicit(&watched[place].thread, thread, memory_order_release);
}

static void leave(VALUE thread)
{
    int place = place_of(thread);

    if (place >= 0)
        atomic_store(&watched[place].thread, 0);
}

static void forget_all(void)
{
    for (int i = 0; i < WATCHED_MAX; i++)
        atomic_store(&watched[i].thread, 0);
    atomic_store(&watched_forks, rb_uw_forks_now());
}

/* The hook is never removed: that would wait for a lock that another thread may have had when this process was forked.
 */
static void begin_to_watch(void)
{
    static bool hooked;

    if (rb_uw_forked_since(atomic_load(&watched_forks)))
        forget_all();
    if (!hooked)
        rb_internal_thread_add_event_hook(tell, RUBY_INTERNAL_THREAD_EVENT_READY | RUBY_INTERNAL_THREAD_EVENT_SUSPENDED,
                                          NULL);
    hooked = true;
}

void rb_uw_watch_worker(struct uw_worker *worker)
{
    begin_to_watch();
    if (worker)
        enter(rb_thread_current(), worker);
    else
        leave(rb_thread_current());
}

#else

void rb_uw_watch_worker(struct uw_worker *worker)
{
    (void)worker;
}

#endif
