/* Turns completions into the results of operations. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <poll.h>

#include "io/accept_errors.h"
#include "io/backend.h"
#include "io/nonblocking.h"
#include "io/sendfile.h"

#define COMPLETIONS_PER_ADVANCE 256 /* completions read before the ring is advanced */
#define PREFETCHED_AHEAD 4          /* completions prefetched ahead: among many, each operation is a cache miss */

/* Returns whether a multishot result carries bytes, a descriptor, or events. */
static bool brings(const struct uw_operation *operation, int32_t result)
{
    switch (operation->opcode) {
    case UW_RECEIVE:
        return result > 0;
    case UW_ACCEPT:
    case UW_WATCH:
        return result >= 0;
    default:
        return false;
    }
}

/* Returns whether the kernel ended a multishot operation early: no free buffer, completion queue overflow, or a
 * single-shot operation. The loop resubmits the operation, and its owner does not notice. */
static bool ended_early(const struct uw_operation *operation, int32_t result)
{
    return brings(operation, result) || (operation->opcode == UW_RECEIVE && result == -ENOBUFS) ||
           (operation->opcode == UW_ACCEPT && uw_accept_missed_one(-result));
}

/* Counts sent bytes. Returns whether bytes remain: the kernel may cut a send short even with MSG_WAITALL, and the
 * socket of a file is writable now. */
static bool left_to_send(struct uw_operation *operation, int32_t result)
{
    switch (operation->opcode) {
    case UW_SEND:
        operation->pauses = 0;
        operation->done += (uint32_t)result;
        return operation->done < operation->length;
    case UW_SEND_VECTOR:
        operation->pauses = 0;
        return uw_send_vector_advance(operation, (size_t)result);
    case UW_SEND_FILE:
        return true;
    default:
        return false;
    }
}

/* Another process used the readiness first, or the kernel cannot wait for this stream after all. */
static bool tries_again(const struct uw_operation *operation, int32_t result)
{
    return uw_uring_is_stream(operation) && result == -EAGAIN && !operation->cancelled;
}

/* When the peer closes its side, Linux wakes a send that waits for buffer space. The send finds none and gives up after
 * 128 such tries in a row. */
static bool gave_up(const struct uw_operation *operation, int32_t result)
{
    return result == -EAGAIN && uw_uring_sends(operation) && !operation->cancelled;
}

/* A send reports all its bytes, or none. */
static void deliver_single(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    bool counts = operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR;
    bool left = result > 0 && left_to_send(operation, result);

    if (left && !operation->cancelled)
        uw_uring_submit(loop, operation);
    else if (left)
        uw_uring_finish(loop, operation, -ECANCELED);
    else
        uw_uring_finish(loop, operation, counts && result > 0 ? (int32_t)operation->done : result);
}

/* The callback runs before the resubmission. An owner that cancels in the callback gets no further result. */
static void step_on(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    uw_uring_of(loop)->delivered = operation;
    operation->complete(loop, operation, result);
    uw_uring_of(loop)->delivered = NULL;
    if (operation->cancelled)
        uw_finish(loop, operation, -ECANCELED);
    else
        uw_uring_submit(loop, operation);
}

static void go_on(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (operation->opcode != UW_WATCH && brings(operation, result)) {
        step_on(loop, operation, result);
        return;
    }
    uw_uring_submit(loop, operation);
    if (brings(operation, result))
        operation->complete(loop, operation, result);
}

static uint32_t polled_events(const struct uw_operation *operation)
{
    switch (operation->opcode) {
    case UW_POLL:
    case UW_WATCH:
        return operation->length;
    case UW_SEND_FILE:
        return POLLOUT;
    default:
        return operation->polling ? (uint32_t)uw_uring_awaited_event(operation) : UINT32_MAX;
    }
}

/* The kernel's poll also ends when the peer stops sending (POLLRDHUP), whatever events it waits for. */
static bool is_no_event(struct uw_operation *operation, int32_t result)
{
    bool none = result > 0 && !((uint32_t)result & (polled_events(operation) | POLLERR | POLLHUP | POLLNVAL));

    if (result > 0 && !none)
        operation->pauses = 0;
    return none;
}

static void wait_on(struct uw_loop *loop, struct uw_operation *operation)
{
    if (operation->cancelled)
        uw_uring_finish(loop, operation, -ECANCELED);
    else
        uw_uring_try_later(loop, operation);
}

/* Another process may have accepted the client first. */
static void accept_polled(struct uw_loop *loop, struct uw_operation *operation)
{
    int accepted = uw_accept_now(operation->fd);

    if (accepted >= 0)
        step_on(loop, operation, accepted);
    else if (accepted == -EAGAIN || accepted == -EINTR || uw_accept_missed_one(-accepted))
        uw_uring_submit(loop, operation);
    else
        uw_uring_finish(loop, operation, accepted);
}

/* Handles the end of the poll before an accept, or a stream's read or write, or of the pause. */
static void deliver_poll(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (result == -ETIME)
        result = 0;
    if (result < 0) {
        uw_uring_finish(loop, operation, result);
    } else if (operation->cancelled || is_no_event(operation, result)) {
        wait_on(loop, operation);
    } else if (uw_uring_accepts_itself(operation)) {
        accept_polled(loop, operation);
    } else {
        uw_uring_of(loop)->unfinished = true;
        uw_uring_submit(loop, operation);
    }
}

/* Ordinary data wakes the kernel's poll too, which then reports every event that the wake-up may mean. A result without
 * POLLRDBAND was checked by the kernel and is valid. Some files report an event only once. */
static int32_t without_false_alarm(const struct uw_operation *operation, int32_t result)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLPRI};

    if (result <= 0 || !(result & POLLRDBAND) || !uw_uring_is_for_urgent(operation))
        return result;
    return poll(&item, 1, 0) > 0 && item.revents & POLLPRI ? result : result & ~POLLPRI; /* no event without POLLPRI */
}

static void deliver(struct uw_loop *loop, struct uw_operation *operation, int32_t result, bool more)
{
    bool early = !more && ended_early(operation, result);

    result = without_false_alarm(operation, result);
    if (!more)
        uw_list_remove(&operation->eof_watch);
    else if (operation->opcode == UW_RECEIVE && !operation->cancelled)
        uw_uring_watch_eof(loop, operation);
    if (is_no_event(operation, result)) {
        wait_on(loop, operation);
    } else if (early && !operation->cancelled) {
        go_on(loop, operation, result);
    } else if (more || early) { /* a result that came before the cancellation counts */
        if (brings(operation, result))
            operation->complete(loop, operation, result);
        if (early)
            uw_uring_finish(loop, operation, -ECANCELED);
    } else if (tries_again(operation, result)) {
        uw_uring_try_again(loop, operation);
    } else if (gave_up(operation, result)) {
        uw_uring_try_later(loop, operation);
    } else {
        deliver_single(loop, operation, result);
    }
}

/* Delivers one completion. Returns 1 if the completion used a provided buffer, which is back at `place`. */
static int take(struct uw_loop *loop, const struct io_uring_cqe *cqe, int place)
{
    struct uw_operation *operation = uw_uring_operation_of(cqe);
    struct uw_uring *ring = uw_uring_of(loop);
    int buffer = cqe->flags & IORING_CQE_F_BUFFER ? (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT) : -1;

    ring->unfinished |= cqe->res == -ENOBUFS;
    if (operation) {
        if (buffer >= 0)
            operation->data = uw_uring_buffer_at(ring, buffer);
        if (cqe->user_data & UW_URING_CANCEL_MARK)
            uw_uring_deliver_cancellation(loop, operation, cqe->res);
        else if (operation->polling)
            deliver_poll(loop, operation, cqe->res);
        else
            deliver(loop, operation, cqe->res, cqe->flags & IORING_CQE_F_MORE);
    }
    if (buffer < 0)
        return 0;
    uw_uring_provide_buffer(ring, buffer, place);
    return 1;
}

void uw_uring_take_all(struct uw_loop *loop)
{
    struct io_uring_cqe *batch[COMPLETIONS_PER_ADVANCE];
    struct uw_uring *ring = uw_uring_of(loop);
    unsigned count;

    while ((count = io_uring_peek_batch_cqe(&ring->uring, batch, COMPLETIONS_PER_ADVANCE)) > 0) {
        int buffers = 0;

        for (unsigned i = 0; i < count; i++) {
            if (i + PREFETCHED_AHEAD < count)
                __builtin_prefetch(uw_uring_operation_of(batch[i + PREFETCHED_AHEAD]));
            buffers += take(loop, batch[i], buffers);
        }
        ring->told += count;
        ring->received += (unsigned)buffers;
        io_uring_buf_ring_cq_advance(&ring->uring, ring->buffers, buffers);
        /* That call advanced both rings by the number of buffers. The other completions used no buffer. */
        io_uring_cq_advance(&ring->uring, count - (unsigned)buffers);
        if (count < COMPLETIONS_PER_ADVANCE)
            return;
    }
}

#endif
