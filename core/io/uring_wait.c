/* Submits and waits, in one call of io_uring_enter(2). */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>

#include "io/backend.h"

#define POLLING_WAIT_NS (50 * UW_NS_PER_US) /* one wait for the polling thread in a late turn */
#define POLLING_WAITS_MAX 4000

/* Returns how many completions a wait is for; see gather_max. */
static unsigned least_completions(struct uw_uring *ring, unsigned gather_max)
{
    unsigned gathered = ring->received < gather_max ? ring->received : gather_max;
    unsigned least = gathered > 1 ? gathered + ring->sends : 1;

    ring->received = ring->sends = 0;
    return least;
}

static int submit_and_wait_some(struct uw_uring *ring, unsigned least, int64_t wait_ns)
{
    struct __kernel_timespec timeout = {.tv_sec = wait_ns / UW_NS_PER_SECOND, .tv_nsec = wait_ns % UW_NS_PER_SECOND};
    struct io_uring_cqe *first;

    if (wait_ns == UW_FOREVER)
        return io_uring_submit_and_wait(&ring->uring, least);
    return io_uring_submit_and_wait_timeout(&ring->uring, &first, least, &timeout, NULL);
}

/* Returns whether the wait may continue: a signal does not end it. */
static bool goes_on(int result)
{
    return result >= 0 || result == -ETIME || result == -EINTR;
}

/* The polling thread reads submissions asynchronously, so this call waits for an empty queue. */
static int await_polling_thread(struct uw_uring *ring)
{
    int result = io_uring_submit(&ring->uring);

    for (int i = 0; i < POLLING_WAITS_MAX && io_uring_sq_ready(&ring->uring) && goes_on(result); i++)
        result = submit_and_wait_some(ring, UW_URING_COMPLETIONS, POLLING_WAIT_NS);
    return result;
}

static void submit_nothing(struct uw_uring *ring)
{
    struct io_uring_sqe *entry = uw_uring_next_entry(ring);

    if (!entry)
        return;
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data(entry, NULL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

/* The polling thread looks for ready operations between two looks at the queue. Two no-ops make it do so. */
static int let_it_look(struct uw_uring *ring)
{
    int result = 0;

    for (int looks = 0; looks < 2 && goes_on(result); looks++) {
        submit_nothing(ring);
        result = await_polling_thread(ring);
    }
    return result;
}

/* A late turn and uw_loop_flush_sync call this. A wait for a full completion queue lifts the kernel's limit on the
 * completions of one call. */
static int submit_and_catch_up(struct uw_uring *ring)
{
    return uw_uring_polled(ring) ? let_it_look(ring) : submit_and_wait_some(ring, UW_URING_COMPLETIONS, 0);
}

void uw_uring_settle(struct uw_loop *loop)
{
    (void)submit_and_catch_up(uw_uring_of(loop)); /* the next turn reports a failure */
}

static int submit_and_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct uw_uring *ring = uw_uring_of(loop);
    unsigned least;
    int result;

    if (loop->overdue)
        return submit_and_catch_up(ring);
    if (wait_ns == 0)
        return io_uring_submit_and_get_events(&ring->uring);
    least = least_completions(ring, loop->gather_max);
    if (least == 1 || wait_ns <= UW_GATHER_NS)
        return submit_and_wait_some(ring, least, wait_ns);
    result = submit_and_wait_some(ring, least, UW_GATHER_NS);
    return result == -ETIME ? 0 : result; /* the gathering ended, not the wait */
}

/* The errors of io_uring_enter(2), and what the loop does about each. A call that only submits leaves them to the next
 * turn.
 *
 *     ETIME           the time-out passed: reads the completions
 *     EINTR           a signal arrived: reads the completions
 *     EAGAIN, EBUSY   memory is short, or the completion queue overflowed: reads the completions, submits again
 *     EBADR           memory was short and the kernel dropped a completion: the turn fails, an operation never ends
 *     EOWNERDEAD      the polling thread ended: the turn fails
 *     EEXIST, EBADFD  another thread entered the ring, or the ring is disabled: the turn fails
 *     EBADF, EFAULT, EINVAL, ENXIO, EOPNOTSUPP   the ring or an argument is wrong: the turn fails */
static bool is_temporary(int result)
{
    return result == -ETIME || result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

int uw_uring_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct uw_uring *ring = uw_uring_of(loop);
    int result = submit_and_wait(loop, wait_ns);

    if (result == -ETIME && uw_uring_polled(ring))
        (void)let_it_look(ring); /* the polling thread may have been stopped together with the process */
    loop->now_ns = uw_clock_ns();
    if (result < 0 && !is_temporary(result))
        return result;
    ring->told = 0;
    ring->unfinished = false;
    uw_uring_take_all(loop);
    if (result == -ETIME && !ring->told)
        return UW_WAIT_NOTHING;
    return ring->unfinished || (result < 0 && result != -ETIME) ? UW_WAIT_SOME : UW_WAIT_ALL;
}

#endif
