/* io_uring through liburing: one ring for each loop, and one io_uring_enter in each turn, which submits and waits.
 * Accept and receive are multishot. Receives use a ring of provided buffers. See `man 7 io_uring`. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/processor_count.h"
#include "io/backend.h"

#define POLLING_IDLE_MS 20 /* idle time after which the polling thread sleeps */

static int init_ring(struct uw_uring *ring, unsigned flags)
{
    struct io_uring_params params = {
        .flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_CLAMP,
        .cq_entries = UW_URING_COMPLETIONS,
        .sq_thread_idle = POLLING_IDLE_MS,
    };
    int error = io_uring_queue_init_params(UW_URING_SUBMISSIONS, &ring->uring, &params);

    if (error)
        return error;
    error = uw_uring_register_buffers(ring);
    if (error) {
        io_uring_queue_exit(&ring->uring);
        return error;
    }
    /* io_uring_register_ring_fd would save a descriptor look-up for each call, but it registers for one thread. Another
     * thread may close the ring (the garbage collector, after the loop's thread has ended), and would remove its own
     * registration. */
    return 0;
}

static int open_with(struct uw_loop *loop, unsigned flags)
{
    struct uw_uring *ring;
    int error;

    if (uw_liburing_missing())
        return -ELIBACC;
    ring = calloc(1, sizeof *ring);
    if (!ring)
        return -ENOMEM;
    ring->process = getpid();
    ring->cancel_again = (struct uw_timer){.expire = uw_uring_cancel_again, .check_only = true};
    ring->look = (struct uw_timer){.expire = uw_uring_check_quiet_streams, .check_only = true};
    uw_list_init(&ring->eof_watch);
    error = init_ring(ring, flags);
    if (error)
        free(ring);
    else
        loop->backend_state = ring;
    return error;
}

static int ring_open(struct uw_loop *loop)
{
    return open_with(loop, IORING_SETUP_DEFER_TASKRUN);
}

/* On a single processor the polling thread would take CPU time from the loop. */
static int polled_ring_open(struct uw_loop *loop)
{
    return uw_processor_count() > 1 ? open_with(loop, IORING_SETUP_SQPOLL) : -UW_NO_PROCESSOR;
}

const struct uw_backend uw_backend_io_uring = {
    .name = "io_uring",
    .missing = uw_liburing_missing,
    .open = ring_open,
    .close = uw_uring_close,
    .submit = uw_uring_submit,
    .cancel = uw_uring_cancel,
    .flush = uw_uring_flush,
    .settle = uw_uring_settle,
    .wait = uw_uring_wait,
};

/* In this variant a kernel thread polls for submissions (SQPOLL), so a submission needs no system call. */
const struct uw_backend uw_backend_io_uring_sqpoll = {
    .name = "io_uring_sqpoll",
    .missing = uw_liburing_missing,
    .open = polled_ring_open,
    .close = uw_uring_close,
    .submit = uw_uring_submit,
    .cancel = uw_uring_cancel,
    .flush = uw_uring_flush,
    .settle = uw_uring_settle,
    .wait = uw_uring_wait,
};

#endif
