/* Cancels operations, and ends them when both the operation and its cancellation have ended. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>

#include "io/backend.h"

#define CANCEL_AGAIN_NS (5 * UW_NS_PER_MS) /* delay after a failed cancellation */

/* The owner gets an operation back only after its cancellation has ended too, because the cancellation refers to it. */
static bool try_to_cancel(struct uw_uring *ring, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = uw_uring_next_entry(ring);

    if (!entry)
        return false;
    io_uring_prep_cancel64(entry, uw_uring_data_of(operation), 0);
    io_uring_sqe_set_data64(entry, (uintptr_t)operation | UW_URING_CANCEL_MARK);
    operation->cancelling = true;
    return true;
}

static void cancel_later(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_uring *ring = uw_uring_of(loop);

    if (!ring->uncancelled)
        uw_timers_start(&loop->timers, &ring->cancel_again, uw_clock_ns() + CANCEL_AGAIN_NS);
    operation->next = ring->uncancelled;
    ring->uncancelled = operation;
}

/* The kernel may accept no submission now. It may miss an operation that moves between its queues (ENOENT), or find it
 * in a worker that does not react (EALREADY). So the loop cancels again until the operation ends. */
void uw_uring_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_uring *ring = uw_uring_of(loop);

    uw_list_remove(&operation->eof_watch);
    if (!operation->ended && operation != ring->delivered && !try_to_cancel(ring, operation))
        cancel_later(loop, operation);
}

void uw_uring_cancel_again(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_operation *operation = uw_uring_of(loop)->uncancelled;

    (void)timer;
    uw_uring_of(loop)->uncancelled = NULL;
    while (operation) {
        struct uw_operation *next = operation->next;

        operation->next = NULL;
        uw_uring_cancel(loop, operation);
        operation = next;
    }
}

/* The operation ended before it was cancelled again. */
static void forget_cancellation(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_operation **link = &uw_uring_of(loop)->uncancelled;

    while (*link && *link != operation)
        link = &(*link)->next;
    if (*link)
        *link = operation->next;
    if (!uw_uring_of(loop)->uncancelled)
        uw_timers_stop(&loop->timers, &uw_uring_of(loop)->cancel_again);
}

/* An interrupted kernel worker and a result that would be tried again both count as cancelled. */
static int32_t cancelled_result(const struct uw_operation *operation, int32_t result)
{
    bool again = result == -EAGAIN && (uw_uring_is_stream(operation) || uw_uring_sends(operation));

    return result == -EINTR || again ? -ECANCELED : result;
}

static void finish_cancelled(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    forget_cancellation(loop, operation);
    operation->result = cancelled_result(operation, result);
    operation->ended = true;
    if (operation->cancelling)
        uw_uring_of(loop)->half_ended++;
    else
        uw_finish(loop, operation, operation->result);
}

void uw_uring_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (operation->cancelled)
        finish_cancelled(loop, operation, result);
    else
        uw_finish(loop, operation, result);
}

void uw_uring_deliver_cancellation(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    operation->cancelling = false;
    if (operation->ended) {
        uw_uring_of(loop)->half_ended--;
        uw_finish(loop, operation, operation->result);
    } else if (result < 0) {
        cancel_later(loop, operation);
    }
}

#endif
