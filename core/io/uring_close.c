/* Closes a ring: the kernel gives up all operations first. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/shutdown_and_close.h"

#define CLOSE_WAIT_NS (100 * UW_NS_PER_MS) /* limit for an operation that cannot be cancelled */
#define CLOSE_TURNS_MAX 1000
#define CLOSE_TRIES_MAX 2 /* attempts to cancel the remaining operations; see uw_uring_cancel */

/* Drops completions and counts those that end an operation. Accepted connections are closed. */
static unsigned drop_completions(struct uw_uring *ring)
{
    struct io_uring_cqe *cqe;
    unsigned ended = 0;

    while (io_uring_peek_batch_cqe(&ring->uring, &cqe, 1) == 1) {
        ended +=
            uw_uring_operation_of(cqe) && !(cqe->flags & IORING_CQE_F_MORE) && !(cqe->user_data & UW_URING_CANCEL_MARK);
        if (cqe->user_data & UW_URING_ACCEPT_MARK && cqe->res >= 0)
            uw_shutdown_and_close(cqe->res);
        io_uring_cqe_seen(&ring->uring, cqe);
    }
    return ended;
}

/* Returns how many of the `left` remaining operations ended before a wait timed out. */
static size_t cancel_all(struct uw_uring *ring, size_t left)
{
    struct __kernel_timespec patience = {.tv_nsec = CLOSE_WAIT_NS};
    struct io_uring_sqe *entry = uw_uring_next_entry(ring);
    struct io_uring_cqe *cqe;
    size_t ended = 0;

    if (!entry)
        return 0;
    io_uring_prep_cancel(entry, NULL, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data(entry, NULL);
    for (int turn = 0; ended < left && turn < CLOSE_TURNS_MAX; turn++) {
        if (io_uring_submit_and_wait_timeout(&ring->uring, &cqe, 1, &patience, NULL) == -ETIME)
            break;
        ended += drop_completions(ring);
    }
    return ended;
}

/* The kernel releases operations in flight only some time after the ring is closed. A port would remain in use, or a
 * buffer would be written to. So every operation ends first. */
static void end_all(struct uw_loop *loop, struct uw_uring *ring)
{
    size_t left = loop->pending - ring->half_ended;

    for (const struct uw_operation *operation = loop->completed; operation; operation = operation->next)
        left--; /* the kernel no longer has this operation */
    for (int tries = 0; left > 0 && tries < CLOSE_TRIES_MAX; tries++) {
        size_t ended = cancel_all(ring, left);

        left -= ended < left ? ended : left;
    }
}

/* Submissions by another thread would run for the ring's thread, unless a kernel thread polls. */
static bool may_submit(const struct uw_loop *loop, const struct uw_uring *ring)
{
    return loop->owner == uw_thread_id() || uw_uring_polled(ring);
}

void uw_uring_close(struct uw_loop *loop)
{
    struct uw_uring *ring = uw_uring_of(loop);

    if (ring->process == getpid()) {
        if (may_submit(loop, ring))
            end_all(loop, ring);
        (void)drop_completions(ring);
    }
    uw_timers_stop(&loop->timers, &ring->cancel_again);
    uw_timers_stop(&loop->timers, &ring->look);
    io_uring_queue_exit(&ring->uring);
    uw_uring_unmap_buffers(ring);
    free(ring);
}

#endif
