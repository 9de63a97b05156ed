/* Queues operations for the kernel, and queues them again. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <poll.h>

#include "io/backend.h"
#include "io/sendfile.h"

#define TRY_AGAIN_NS UW_NS_PER_MS /* first delay before a ready stream is tried again; later ones are longer */

/* A stream of an unknown kind is polled before the read or write. On some non-blocking descriptors the kernel would
 * return EAGAIN instead of waiting. */
static bool polls_first(const struct uw_operation *operation)
{
    return uw_uring_is_stream(operation) && !operation->pollable;
}

static bool ready_now(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = uw_uring_awaited_event(operation)};

    return poll(&item, 1, 0) != 0;
}

/* The poll is not linked to the read or write. The kernel looks up a linked operation's file only after the poll, and
 * by then the number may be another file's. */
static void enqueue(struct uw_loop *loop, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = uw_uring_next_entry(uw_uring_of(loop));

    if (!entry) {
        uw_complete_later(loop, operation, -EBUSY);
        return;
    }
    operation->polling = uw_uring_accepts_itself(operation) || (polls_first(operation) && !ready_now(operation));
    if (operation->polling) {
        io_uring_prep_poll_add(entry, operation->fd, (unsigned)uw_uring_awaited_event(operation));
    } else {
        uw_uring_prepare(entry, operation);
        uw_uring_of(loop)->sends += operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR;
    }
    io_uring_sqe_set_data64(entry, uw_uring_data_of(operation));
}

void uw_uring_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    int64_t result = operation->opcode == UW_SEND_FILE ? uw_send_file_part(loop, operation) : -EAGAIN;

    if (result == -EAGAIN)
        enqueue(loop, operation);
    else
        uw_complete_later(loop, operation, (int32_t)result);
}

/* Each retry waits longer; the last delay repeats. */
static struct __kernel_timespec pauses[] = {
    {.tv_nsec = TRY_AGAIN_NS},     {.tv_nsec = 2 * TRY_AGAIN_NS},  {.tv_nsec = 4 * TRY_AGAIN_NS},
    {.tv_nsec = 8 * TRY_AGAIN_NS}, {.tv_nsec = 16 * TRY_AGAIN_NS}, {.tv_nsec = 32 * TRY_AGAIN_NS},
};
#define PAUSES ((int)(sizeof pauses / sizeof *pauses))

/* The timeout replaces the poll. */
void uw_uring_try_later(struct uw_loop *loop, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = uw_uring_next_entry(uw_uring_of(loop));

    if (!entry) {
        uw_complete_later(loop, operation, -EBUSY);
        return;
    }
    io_uring_prep_timeout(entry, &pauses[operation->pauses], 0, 0);
    operation->polling = true;
    operation->pauses += operation->pauses + 1 < PAUSES;
    io_uring_sqe_set_data64(entry, uw_uring_data_of(operation));
}

/* An eventfd may be ready, but not for a number this large. A poll would then make the loop spin. */
void uw_uring_try_again(struct uw_loop *loop, struct uw_operation *operation)
{
    bool was_ready = polls_first(operation);

    operation->pollable = false;
    if (was_ready && ready_now(operation))
        uw_uring_try_later(loop, operation);
    else
        uw_uring_submit(loop, operation);
}

void uw_uring_flush(struct uw_loop *loop)
{
    struct uw_uring *ring = uw_uring_of(loop);

    /* The next turn meets the same failure and reports it. */
    if (io_uring_sq_ready(&ring->uring))
        (void)io_uring_submit(&ring->uring);
}

#endif
