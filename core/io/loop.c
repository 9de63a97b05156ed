#include "io/loop.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/fd_limit.h"
#include "base/invariant.h"
#include "io/backend.h"
#include "io/sendfile.h"

/* These limits are for a late turn; see catch_up. */
#define RESULTS_PER_LOOK 256
#define LOOKS_MIN 4

static void woken(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (result == -EBADF) /* the application closed the descriptor, so polls would fail again and again */
        return;
    uw_wakeup_clear(&loop->wakeup); /* after a failure too: a loop that nothing wakes would hang */
    loop->wakes++;
    uw_submit(loop, operation);
}

static int open_backend(struct uw_loop *loop, const struct uw_backend *backend)
{
    loop->backend = backend;
    return backend->open(loop);
}

/* When descriptors run out, the loop does not choose a backend that needs fewer: it would be slow for its lifetime. */
static int choose_backend(struct uw_loop *loop, const char *name)
{
    const struct uw_backend *backend;
    int error = -ENOENT;

    if (name) {
        backend = uw_backend_find(name);
        return backend ? open_backend(loop, backend) : -ENOENT;
    }
    for (size_t i = 0; uw_backends[i] && error && !uw_fd_limit_reached(error); i++)
        error = open_backend(loop, uw_backends[i]);
    return error;
}

int uw_loop_open(struct uw_loop *loop, const char *backend, uw_expire *expire)
{
    int error;

    *loop = (struct uw_loop){.expire = expire, .owner = uw_thread_id(), .now_ns = uw_clock_ns()};
    loop->completed_tail = &loop->completed;
    loop->bulk_tail = &loop->bulk_first;
    uw_timers_init(&loop->timers, loop->now_ns);
    uw_list_init(&loop->due);

    loop->wakeup = UW_NO_WAKEUP;
    error = choose_backend(loop, backend);
    if (error || loop->backend->wake)
        return error;
    error = uw_wakeup_open(&loop->wakeup);
    if (error) {
        loop->backend->close(loop);
        return error;
    }
    loop->wake_poll =
        (struct uw_operation){.opcode = UW_POLL, .fd = loop->wakeup.fd, .length = POLLIN, .complete = woken};
    uw_submit(loop, &loop->wake_poll);
    error = loop->completed ? loop->completed->result : 0; /* the kernel has no memory for the poll */
    if (error)
        uw_loop_close(loop);
    return error;
}

void uw_loop_close(struct uw_loop *loop)
{
    loop->backend->close(loop);
    uw_wakeup_close(&loop->wakeup);
    if (loop->loop_data)
        loop->free_loop_data(loop->loop_data);
    loop->loop_data = NULL;
    loop->owner = uw_thread_id();
}

void uw_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    UW_ASSERT_OWNER(loop);
    /* epoll and poll would wait forever, and io_uring would complete the operation twice. */
    UW_INVARIANT(!operation->pending);
    operation->pending = true;
    operation->cancelled = operation->cancelling = operation->ended = false;
    operation->done = 0;
    operation->next = NULL;
    uw_list_init(&operation->eof_watch);
    loop->submitted++;
    loop->pending++;
    if (operation->fd < 0)
        uw_complete_later(loop, operation, -EBADF);
    else
        loop->backend->submit(loop, operation);
}

void uw_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    UW_ASSERT_OWNER(loop);
    if (!operation->pending || operation->cancelled)
        return;
    operation->cancelled = true;
    loop->backend->cancel(loop, operation);
}

/* Delivers only the results queued before this call. A callback that submits again gets its result in the next turn, so
 * no descriptor can starve others. */
static void deliver_completed(struct uw_loop *loop)
{
    struct uw_operation *operation = loop->completed;

    loop->completed = NULL;
    loop->completed_tail = &loop->completed;
    while (operation) {
        struct uw_operation *next = operation->next;

        operation->next = NULL;
        uw_finish(loop, operation, operation->result);
        operation = next;
    }
}

static void expire_timers(struct uw_loop *loop, int64_t until_ns)
{
    struct uw_timer *timer;

    uw_timers_expire(&loop->timers, until_ns, &loop->due);
    while ((timer = uw_timers_take(&loop->timers, &loop->due)))
        (timer->expire ? timer->expire : loop->expire)(loop, timer);
}

/* Threads push messages onto a stack. This function returns them in the order of posting. */
static struct uw_message *take_posted(_Atomic(struct uw_message *) *posted)
{
    struct uw_message *stack, *queue = NULL;

    if (!atomic_load_explicit(posted, memory_order_relaxed))
        return NULL;
    stack = atomic_exchange_explicit(posted, NULL, memory_order_acquire);
    while (stack) {
        struct uw_message *next = stack->next;

        stack->next = queue;
        queue = stack;
        stack = next;
    }
    return queue;
}

static void receive_posted(struct uw_loop *loop)
{
    struct uw_message *queue = take_posted(&loop->posted);

    while (queue) {
        struct uw_message *next = queue->next;

        queue->receive(loop, queue);
        queue = next;
    }
}

static void join_line(struct uw_loop *loop)
{
    *loop->bulk_tail = take_posted(&loop->bulk_posted);
    while (*loop->bulk_tail)
        loop->bulk_tail = &(*loop->bulk_tail)->next;
}

static void receive_first(struct uw_loop *loop)
{
    struct uw_message *first = loop->bulk_first;

    loop->bulk_first = first->next;
    if (!loop->bulk_first)
        loop->bulk_tail = &loop->bulk_first;
    first->receive(loop, first);
}

static void receive_line(struct uw_loop *loop)
{
    int64_t until_ns;

    join_line(loop);
    if (!loop->bulk_first)
        return;
    until_ns = uw_clock_ns() + UW_BULK_NS;
    do {
        receive_first(loop);
    } while (loop->bulk_first && uw_clock_ns() < until_ns);
}

void uw_loop_receive(struct uw_loop *loop)
{
    UW_ASSERT_OWNER(loop);
    receive_posted(loop);
    join_line(loop);
    while (loop->bulk_first)
        receive_first(loop);
}

static bool are_harmless(const struct uw_list *timers)
{
    const struct uw_list *link = timers->next;

    while (link != timers && uw_container_of(link, const struct uw_timer, link)->check_only)
        link = link->next;
    return link == timers;
}

/* Returns how long a turn that begins at `now_ns` may wait. */
static int64_t bounded_wait(struct uw_loop *loop, int64_t wait_ns, int64_t now_ns)
{
    int64_t next_ns;

    uw_timers_expire(&loop->timers, now_ns, &loop->due);
    loop->overdue = !are_harmless(&loop->due);
    if (!uw_list_empty(&loop->due) || loop->completed)
        return 0;
    next_ns = uw_timers_next_ns(&loop->timers);
    return next_ns != INT64_MAX && next_ns - now_ns < wait_ns ? next_ns - now_ns : wait_ns;
}

static int look(struct uw_loop *loop, int64_t wait_ns)
{
    int told = loop->backend->wait(loop, wait_ns);

    atomic_store_explicit(&loop->waiting, false, memory_order_relaxed);
    deliver_completed(loop);
    receive_posted(loop);
    return told;
}

/* Polls until all results are delivered that existed when a deadline passed: a peer may have met the deadline while the
 * loop's thread was stopped or busy. Enough polls for one result of every operation are the limit, so that a flood
 * cannot delay timers. */
static int catch_up(struct uw_loop *loop, int told)
{
    size_t looks = loop->pending / RESULTS_PER_LOOK + LOOKS_MIN;

    while (told == UW_WAIT_SOME && looks-- > 0)
        told = look(loop, 0);
    return told;
}

/* Returns the time up to which all results were seen. This is not the present: results may have arrived since. A wait
 * may also end early, as on Windows. */
static int64_t looked_up_to(const struct uw_loop *loop, int told, int64_t begin_ns, int64_t wait_ns)
{
    if (told != UW_WAIT_NOTHING || wait_ns == UW_FOREVER)
        return begin_ns;
    return loop->now_ns - begin_ns < wait_ns ? loop->now_ns : begin_ns + wait_ns;
}

int uw_loop_turn(struct uw_loop *loop, int64_t wait_ns)
{
    int64_t begin_ns = uw_clock_ns();
    int told;

    UW_ASSERT_OWNER(loop);
    wait_ns = bounded_wait(loop, wait_ns, begin_ns);
    if (wait_ns > 0) {
        /* This store is sequentially consistent with uw_loop_post: either the post sees `waiting`, or this turn sees
         * the message. */
        atomic_store(&loop->waiting, true);
        if (atomic_load(&loop->posted) || atomic_load(&loop->bulk_posted) || loop->bulk_first)
            wait_ns = 0;
    }
    loop->turns++;
    loop->turning = true;
    told = look(loop, wait_ns);
    if (loop->overdue)
        told = catch_up(loop, told);
    receive_line(loop);
    expire_timers(loop, looked_up_to(loop, told, begin_ns, wait_ns));
    loop->turning = false;
    uw_send_end_turn(loop);
    return told < 0 ? told : 0;
}

bool uw_loop_queues(const struct uw_loop *loop)
{
    return loop->backend->flush;
}

void uw_loop_flush(struct uw_loop *loop)
{
    UW_ASSERT_OWNER(loop);
    if (loop->backend->flush)
        loop->backend->flush(loop);
}

void uw_loop_flush_sync(struct uw_loop *loop)
{
    UW_ASSERT_OWNER(loop);
    if (loop->backend->settle)
        loop->backend->settle(loop);
}

void uw_loop_wake(struct uw_loop *loop)
{
    atomic_fetch_add_explicit(&loop->wake_calls, 1, memory_order_relaxed);
    if (loop->backend->wake)
        loop->backend->wake(loop);
    else
        uw_wakeup_tell(&loop->wakeup);
}

static void post(struct uw_loop *loop, _Atomic(struct uw_message *) *posted, struct uw_message *message)
{
    struct uw_message *head = atomic_load_explicit(posted, memory_order_relaxed);

    do {
        message->next = head;
    } while (!atomic_compare_exchange_weak(posted, &head, message));
    if (!head && atomic_load(&loop->waiting))
        uw_loop_wake(loop);
}

void uw_loop_post(struct uw_loop *loop, struct uw_message *message)
{
    post(loop, &loop->posted, message);
}

void uw_loop_post_bulk(struct uw_loop *loop, struct uw_message *message)
{
    post(loop, &loop->bulk_posted, message);
}

int uw_close(struct uw_loop *loop, int fd)
{
    UW_ASSERT_OWNER(loop);
    if (loop->backend->forget)
        loop->backend->forget(loop, fd);
    return close(fd) ? -errno : 0;
}
