/* io_uring, through liburing: one ring a loop, one io_uring_enter a turn that submits everything and waits, multishot
 * accept and receive, receive into a ring of provided buffers. See `man 7 io_uring`. */
#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/processors.h"
#include "io/accept.h"
#include "io/backend.h"
#include "io/hang_up.h"
#include "io/send.h"

#define SUBMISSIONS 1024              /* queued before they must be handed over */
#define COMPLETIONS (SUBMISSIONS * 8) /* the kernel keeps what overflows and gives it later */
#define COMPLETIONS_PER_ADVANCE 256   /* taken before the ring is advanced */
#define PREFETCHED_AHEAD 4            /* operations of completions: among many, each has to come from memory */
#define RECEIVE_BUFFERS 512           /* a power of two */
#define RECEIVE_BUFFER_BYTES 16384    /* only pages that were written to take memory */
#define RECEIVE_GROUP 0
#define ACCEPT_DONTWAIT (1U << 1)           /* IORING_ACCEPT_DONTWAIT, which liburing 2.3 does not name */
#define POLLING_IDLE_MS 20                  /* without a submission, after which the polling thread sleeps */
#define POLLING_WAIT_NS (50 * UW_NS_PER_US) /* for the polling thread, in a turn that began late, and how often */
#define POLLING_WAITS_MAX 4000
#define CANCEL_AGAIN_NS (5 * UW_NS_PER_MS) /* after the kernel could not yet */
#define TRY_AGAIN_NS UW_NS_PER_MS          /* what a stream that is ready did not take; after that, less often */
#define LOOK_AFTER_NS UW_NS_PER_SECOND     /* of silence, whether a stream has ended; see hear */
#define CLOSE_WAIT_NS (100 * UW_NS_PER_MS) /* for an operation that cannot be cancelled */
#define CLOSE_TURNS_MAX 1000
#define CLOSE_TRIES_MAX 2 /* at cancelling what is left; see ring_cancel */

/* Mark the user data, as operations have addresses that 4 divides: of a cancellation; and of what brings descriptors,
 * as who closes the ring may no longer look into the operation. */
#define CANCEL_MARK 1
#define ACCEPT_MARK 2

_Static_assert(RECEIVE_BUFFER_BYTES <= UW_RECEIVE_BYTES_MAX, "a buffer holds one result");

struct ring {
    struct io_uring uring;
    struct io_uring_buf_ring *buffers;
    char *memory;             /* of the buffers */
    unsigned received, sends; /* since the last wait: buffers filled; sends queued, which most often complete at once */
    unsigned told;            /* in this wait: completions */
    bool unfinished;          /* in this wait: a receive had no free buffer, or a stream is ready and not yet read */
    struct uw_operation *uncancelled; /* to be cancelled again when the timer is due */
    struct uw_timer cancel_again;
    struct uw_list heard; /* receives that have brought bytes of late */
    struct uw_timer look;
    size_t half_ended;              /* operations that have ended, whose cancellation has not */
    struct uw_operation *delivered; /* in its callback, and not in the kernel meanwhile */
    pid_t process;                  /* that opened it: a child process shares what is mapped */
};

static struct ring *ring_of(struct uw_loop *loop)
{
    return loop->backend_state;
}

/* By a thread of the kernel. */
static bool polled(const struct ring *ring)
{
    return ring->uring.flags & IORING_SETUP_SQPOLL;
}

static char *buffer_at(const struct ring *ring, int id)
{
    return ring->memory + (size_t)id * RECEIVE_BUFFER_BYTES;
}

static void provide_buffer(struct ring *ring, int id, int place)
{
    io_uring_buf_ring_add(ring->buffers, buffer_at(ring, id), RECEIVE_BUFFER_BYTES, (unsigned short)id,
                          io_uring_buf_ring_mask(RECEIVE_BUFFERS), place);
}

static void *map_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

static int map_buffers(struct ring *ring)
{
    ring->buffers = map_pages(RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
    if (!ring->buffers)
        return -ENOMEM;
    ring->memory = map_pages((size_t)RECEIVE_BUFFERS * RECEIVE_BUFFER_BYTES);
    if (!ring->memory) {
        munmap(ring->buffers, RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
        return -ENOMEM;
    }
    return 0;
}

static void unmap_buffers(struct ring *ring)
{
    munmap(ring->buffers, RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
    munmap(ring->memory, (size_t)RECEIVE_BUFFERS * RECEIVE_BUFFER_BYTES);
}

static int register_buffers(struct ring *ring)
{
    struct io_uring_buf_reg registration = {.ring_entries = RECEIVE_BUFFERS, .bgid = RECEIVE_GROUP};
    int error = map_buffers(ring);

    if (error)
        return error;
    registration.ring_addr = (uintptr_t)ring->buffers;
    error = io_uring_register_buf_ring(&ring->uring, &registration, 0);
    if (error) {
        unmap_buffers(ring);
        return error;
    }
    io_uring_buf_ring_init(ring->buffers);
    for (int id = 0; id < RECEIVE_BUFFERS; id++)
        provide_buffer(ring, id, id);
    io_uring_buf_ring_advance(ring->buffers, RECEIVE_BUFFERS);
    return 0;
}

static int init_ring(struct ring *ring, unsigned flags)
{
    struct io_uring_params params = {
        .flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_CLAMP,
        .cq_entries = COMPLETIONS,
        .sq_thread_idle = POLLING_IDLE_MS,
    };
    int error = io_uring_queue_init_params(SUBMISSIONS, &ring->uring, &params);

    if (error)
        return error;
    error = register_buffers(ring);
    if (error) {
        io_uring_queue_exit(&ring->uring);
        return error;
    }
    /* io_uring_register_ring_fd would save a descriptor look-up a call, but belongs to the thread: a ring that another
     * thread closes (the collector's, of a loop whose thread has ended) would take that thread's registration away. */
    return 0;
}

static void cancel_again(struct uw_loop *loop, struct uw_timer *timer);
static void look_at_silent(struct uw_loop *loop, struct uw_timer *timer);

static int open_with(struct uw_loop *loop, unsigned flags)
{
    struct ring *ring = calloc(1, sizeof *ring);
    int error;

    if (!ring)
        return -ENOMEM;
    ring->process = getpid();
    ring->cancel_again = (struct uw_timer){.expire = cancel_again, .harmless = true};
    ring->look = (struct uw_timer){.expire = look_at_silent, .harmless = true};
    uw_list_init(&ring->heard);
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

/* The polling thread would take the time of a single processor from the loop. */
static int polled_ring_open(struct uw_loop *loop)
{
    return uw_processors() > 1 ? open_with(loop, IORING_SETUP_SQPOLL) : -UW_NO_PROCESSOR;
}

/* What is in a full queue goes to the kernel; a polling thread takes it in its own time. */
static bool make_room(struct ring *ring)
{
    while (!io_uring_sq_space_left(&ring->uring))
        if (io_uring_submit(&ring->uring) < 0 || io_uring_sqring_wait(&ring->uring) < 0)
            return false;
    return true;
}

/* A free submission entry. */
static struct io_uring_sqe *next_entry(struct ring *ring)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);

    return entry || !make_room(ring) ? entry : io_uring_get_sqe(&ring->uring);
}

/* O_NONBLOCK is left as it is, for others may accept from the same socket: since Linux 5.19 the kernel waits all the
 * same. */
static void prepare_accept(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->stepwise)
        io_uring_prep_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    else
        io_uring_prep_multishot_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void prepare_accept_waiting(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    io_uring_prep_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    entry->ioprio |= ACCEPT_DONTWAIT;
}

/* MSG_WAITALL: the kernel resumes short sends itself, where it can. */
static unsigned send_flags(const struct uw_operation *operation)
{
    return MSG_NOSIGNAL | (operation->in_parts ? 0U : MSG_WAITALL) | (operation->more ? MSG_MORE : 0U);
}

static void prepare_send(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    io_uring_prep_send(entry, operation->fd, (char *)operation->data + operation->done,
                       operation->length - operation->done, send_flags(operation));
}

static void prepare_receive(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->stepwise)
        io_uring_prep_recv(entry, operation->fd, NULL, 0, 0);
    else
        io_uring_prep_recv_multishot(entry, operation->fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = RECEIVE_GROUP;
}

/* Whoever waits for a socket has most often found it empty. */
static void prepare_read(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->socket) {
        io_uring_prep_recv(entry, operation->fd, operation->data, operation->length, 0);
        entry->ioprio |= IORING_RECVSEND_POLL_FIRST;
    } else {
        io_uring_prep_read(entry, operation->fd, operation->data, operation->length, (uint64_t)operation->offset);
    }
}

static void prepare_write(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->socket)
        io_uring_prep_send(entry, operation->fd, operation->data, operation->length, MSG_NOSIGNAL);
    else
        io_uring_prep_write(entry, operation->fd, operation->data, operation->length, (uint64_t)operation->offset);
}

/* For POLLPRI alone the kernel's poll is never woken, so it is to be for POLLRDBAND too, which comes of the same. */
static bool is_for_urgent(const struct uw_operation *operation)
{
    bool polls = operation->verb == UW_POLL || operation->verb == UW_WATCH;

    return polls && operation->length & POLLPRI;
}

static void prepare(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    switch (operation->verb) {
    case UW_ACCEPT:
        prepare_accept(entry, operation);
        break;
    case UW_ACCEPT_WAITING:
        prepare_accept_waiting(entry, operation);
        break;
    case UW_RECEIVE:
        prepare_receive(entry, operation);
        break;
    case UW_SEND:
        prepare_send(entry, operation);
        break;
    case UW_SEND_VECTOR:
        io_uring_prep_sendmsg(entry, operation->fd, operation->data, send_flags(operation));
        break;
    case UW_SEND_FILE: /* the kernel has no such operation: wait until the socket is writable, then sendfile(2) */
        io_uring_prep_poll_add(entry, operation->fd, POLLOUT);
        break;
    case UW_READ:
        prepare_read(entry, operation);
        break;
    case UW_WRITE:
        prepare_write(entry, operation);
        break;
    case UW_CONNECT:
        io_uring_prep_connect(entry, operation->fd, operation->data, operation->length);
        break;
    case UW_POLL:
    case UW_WATCH: /* the kernel's multishot poll tells of changes only: each is for one event, and submitted anew */
        io_uring_prep_poll_add(entry, operation->fd, operation->length | (is_for_urgent(operation) ? POLLRDBAND : 0));
        break;
    }
}

static bool is_stream(const struct uw_operation *operation)
{
    return (operation->verb == UW_READ || operation->verb == UW_WRITE) && operation->offset < 0 && !operation->socket;
}

/* A stream of which nothing is known is read or written when it is ready: on a non-blocking descriptor of some kinds
 * the kernel would answer EAGAIN instead of waiting. */
static bool polls_first(const struct uw_operation *operation)
{
    return is_stream(operation) && !operation->pollable;
}

static short awaited_event(const struct uw_operation *operation)
{
    return operation->verb == UW_READ ? POLLIN : POLLOUT;
}

static bool ready_now(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = awaited_event(operation)};

    return poll(&item, 1, 0) != 0;
}

static uintptr_t data_of(const struct uw_operation *operation)
{
    bool accepts = operation->verb == UW_ACCEPT || operation->verb == UW_ACCEPT_WAITING;

    return (uintptr_t)operation | (accepts ? ACCEPT_MARK : 0);
}

/* The poll is an operation of its own, not linked to the other: for what is linked the kernel looks for the file when
 * the poll is over, and by then the number may be another file's. */
static void enqueue(struct uw_loop *loop, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = next_entry(ring_of(loop));

    if (!entry) {
        uw_complete_later(loop, operation, -EBUSY);
        return;
    }
    operation->polling = polls_first(operation) && !ready_now(operation);
    if (operation->polling) {
        io_uring_prep_poll_add(entry, operation->fd, (unsigned)awaited_event(operation));
    } else {
        prepare(entry, operation);
        ring_of(loop)->sends += operation->verb == UW_SEND || operation->verb == UW_SEND_VECTOR;
    }
    io_uring_sqe_set_data64(entry, data_of(operation));
}

static void ring_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    int64_t result = operation->verb == UW_SEND_FILE ? uw_send_file_part(loop, operation) : -EAGAIN;

    if (result == -EAGAIN)
        enqueue(loop, operation);
    else
        uw_complete_later(loop, operation, (int32_t)result);
}

/* Linux may not tell a multishot receive of an end of the stream that came together with bytes (seen on 6.18: of a
 * reset once in 60,000). So whoever falls silent after bytes is looked at once. */
static void hear(struct uw_loop *loop, struct uw_operation *operation)
{
    struct ring *ring = ring_of(loop);

    if (!ring->look.active)
        uw_timers_start(&loop->timers, &ring->look, loop->now_ns + LOOK_AFTER_NS);
    if (uw_list_empty(&operation->heard))
        uw_list_append(&ring->heard, &operation->heard);
    operation->silent = false;
}

/* An operation is its owner's again only when its cancellation is over too, which names it. */
static bool try_to_cancel(struct ring *ring, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = next_entry(ring);

    if (!entry)
        return false;
    io_uring_prep_cancel64(entry, data_of(operation), 0);
    io_uring_sqe_set_data64(entry, (uintptr_t)operation | CANCEL_MARK);
    operation->cancelling = true;
    return true;
}

static void cancel_later(struct uw_loop *loop, struct uw_operation *operation)
{
    struct ring *ring = ring_of(loop);

    if (!ring->uncancelled)
        uw_timers_start(&loop->timers, &ring->cancel_again, uw_clock_ns() + CANCEL_AGAIN_NS);
    operation->next = ring->uncancelled;
    ring->uncancelled = operation;
}

/* The kernel may take no more submissions now; or not find the operation on its way from one of its queues to another
 * (ENOENT); or find it with a worker that does not notice (EALREADY). So it is cancelled again until it ends. */
static void ring_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct ring *ring = ring_of(loop);

    uw_list_remove(&operation->heard);
    if (!operation->ended && operation != ring->delivered && !try_to_cancel(ring, operation))
        cancel_later(loop, operation);
}

static void cancel_again(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_operation *operation = ring_of(loop)->uncancelled;

    (void)timer;
    ring_of(loop)->uncancelled = NULL;
    while (operation) {
        struct uw_operation *next = operation->next;

        operation->next = NULL;
        ring_cancel(loop, operation);
        operation = next;
    }
}

/* It ended before it was cancelled again. */
static void forget_cancellation(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_operation **link = &ring_of(loop)->uncancelled;

    while (*link && *link != operation)
        link = &(*link)->next;
    if (*link)
        *link = operation->next;
    if (!ring_of(loop)->uncancelled)
        uw_timers_stop(&loop->timers, &ring_of(loop)->cancel_again);
}

/* What a worker of the kernel was interrupted in has been cancelled, and so has what was to be tried again. */
static int32_t cancelled_result(const struct uw_operation *operation, int32_t result)
{
    return result == -EINTR || (is_stream(operation) && result == -EAGAIN) ? -ECANCELED : result;
}

static void finish_cancelled(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    forget_cancellation(loop, operation);
    operation->result = cancelled_result(operation, result);
    operation->ended = true;
    if (operation->cancelling)
        ring_of(loop)->half_ended++;
    else
        uw_finish(loop, operation, operation->result);
}

static void finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (operation->cancelled)
        finish_cancelled(loop, operation, result);
    else
        uw_finish(loop, operation, result);
}

static void deliver_cancellation(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    operation->cancelling = false;
    if (operation->ended) {
        ring_of(loop)->half_ended--;
        uw_finish(loop, operation, operation->result);
    } else if (result < 0) {
        cancel_later(loop, operation);
    }
}

static void ring_flush(struct uw_loop *loop)
{
    struct ring *ring = ring_of(loop);

    /* A failure shows again, and is told, in the turn that follows. */
    if (io_uring_sq_ready(&ring->uring))
        (void)io_uring_submit(&ring->uring);
}

/* Whether a multishot result brings something: bytes, a descriptor, or events. */
static bool brings(const struct uw_operation *operation, int32_t result)
{
    switch (operation->verb) {
    case UW_RECEIVE:
        return result > 0;
    case UW_ACCEPT:
    case UW_WATCH:
        return result >= 0;
    default:
        return false;
    }
}

/* A multishot operation that the kernel ended early (no buffer free, completion queue overflown), or that is a single
 * one for it, goes on without its owner knowing. */
static bool ended_early(const struct uw_operation *operation, int32_t result)
{
    return brings(operation, result) || (operation->verb == UW_RECEIVE && result == -ENOBUFS) ||
           (operation->verb == UW_ACCEPT && uw_accept_missed_one(-result));
}

/* Counts what was sent. Whether something is left: of a send that the kernel cut short, in spite of MSG_WAITALL even,
 * or of a file whose socket is writable now. */
static bool left_to_send(struct uw_operation *operation, int32_t result)
{
    switch (operation->verb) {
    case UW_SEND:
        operation->done += (uint32_t)result;
        return operation->done < operation->length;
    case UW_SEND_VECTOR:
        return uw_send_vector_advance(operation, (size_t)result);
    case UW_SEND_FILE:
        return true;
    default:
        return false;
    }
}

/* Another took what the stream was ready for, or the kernel cannot wait for it after all. */
static bool tries_again(const struct uw_operation *operation, int32_t result)
{
    return is_stream(operation) && result == -EAGAIN && !operation->cancelled;
}

/* One after another; the last for ever. */
static struct __kernel_timespec pauses[] = {
    {.tv_nsec = TRY_AGAIN_NS},     {.tv_nsec = 2 * TRY_AGAIN_NS},  {.tv_nsec = 4 * TRY_AGAIN_NS},
    {.tv_nsec = 8 * TRY_AGAIN_NS}, {.tv_nsec = 16 * TRY_AGAIN_NS}, {.tv_nsec = 32 * TRY_AGAIN_NS},
};
#define PAUSES ((int)(sizeof pauses / sizeof *pauses))

/* The pause is in the place of the poll. */
static void try_later(struct uw_loop *loop, struct uw_operation *operation)
{
    struct io_uring_sqe *entry = next_entry(ring_of(loop));

    if (!entry) {
        uw_complete_later(loop, operation, -EBUSY);
        return;
    }
    io_uring_prep_timeout(entry, &pauses[operation->pauses], 0, 0);
    operation->polling = true;
    operation->pauses += operation->pauses + 1 < PAUSES;
    io_uring_sqe_set_data64(entry, data_of(operation));
}

/* An eventfd may be ready, and yet not for a number as large as this one: then a poll would make the loop spin. */
static void try_again(struct uw_loop *loop, struct uw_operation *operation)
{
    bool was_ready = polls_first(operation);

    operation->pollable = false;
    if (was_ready && ready_now(operation))
        try_later(loop, operation);
    else
        ring_submit(loop, operation);
}

/* A send tells of all its bytes, or of none. */
static void deliver_single(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    bool sends = operation->verb == UW_SEND || operation->verb == UW_SEND_VECTOR;
    bool left = result > 0 && left_to_send(operation, result);

    if (left && !operation->cancelled)
        ring_submit(loop, operation);
    else if (left)
        finish(loop, operation, -ECANCELED);
    else
        finish(loop, operation, sends && result > 0 ? (int32_t)operation->done : result);
}

/* The result first: whoever cancels in the callback is given nothing more after it. */
static void step_on(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    ring_of(loop)->delivered = operation;
    operation->complete(loop, operation, result);
    ring_of(loop)->delivered = NULL;
    if (operation->cancelled)
        uw_finish(loop, operation, -ECANCELED);
    else
        ring_submit(loop, operation);
}

static void go_on(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (operation->verb != UW_WATCH && brings(operation, result)) {
        step_on(loop, operation, result);
        return;
    }
    ring_submit(loop, operation);
    if (brings(operation, result))
        operation->complete(loop, operation, result);
}

static uint32_t polled_events(const struct uw_operation *operation)
{
    switch (operation->verb) {
    case UW_POLL:
    case UW_WATCH:
        return operation->length;
    case UW_SEND_FILE:
        return POLLOUT;
    default:
        return operation->polling ? (uint32_t)awaited_event(operation) : UINT32_MAX;
    }
}

/* The kernel's poll ends as well when the other end sends no more, whatever it is to wait for (POLLRDHUP). */
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
        finish(loop, operation, -ECANCELED);
    else
        try_later(loop, operation);
}

/* Of the poll that goes before a stream's read or write, or the pause. */
static void deliver_poll(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    if (result == -ETIME)
        result = 0;
    if (result < 0) {
        finish(loop, operation, result);
    } else if (operation->cancelled || is_no_event(operation, result)) {
        wait_on(loop, operation);
    } else {
        ring_of(loop)->unfinished = true;
        ring_submit(loop, operation);
    }
}

/* That it is woken by ordinary data too, the kernel's poll does not notice; then all of what that may have been is
 * told. What it has looked at itself is true, and some files tell once. */
static int32_t without_false_alarm(const struct uw_operation *operation, int32_t result)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLPRI};

    if (result <= 0 || !(result & POLLRDBAND) || !is_for_urgent(operation))
        return result;
    return poll(&item, 1, 0) > 0 && item.revents & POLLPRI ? result : result & ~POLLPRI; /* then it is no result */
}

static void deliver(struct uw_loop *loop, struct uw_operation *operation, int32_t result, bool more)
{
    bool early = !more && ended_early(operation, result);

    result = without_false_alarm(operation, result);
    if (!more)
        uw_list_remove(&operation->heard);
    else if (operation->verb == UW_RECEIVE && !operation->cancelled)
        hear(loop, operation);
    if (is_no_event(operation, result)) {
        wait_on(loop, operation);
    } else if (early && !operation->cancelled) {
        go_on(loop, operation, result);
    } else if (more || early) { /* or cancelled, but this came first */
        if (brings(operation, result))
            operation->complete(loop, operation, result);
        if (early)
            finish(loop, operation, -ECANCELED);
    } else if (tries_again(operation, result)) {
        try_again(loop, operation);
    } else {
        deliver_single(loop, operation, result);
    }
}

/* Nothing more can come, so there is nothing to be lost by it; and the kernel looks again. */
static void have_end_told(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLRDHUP};

    if (poll(&item, 1, 0) > 0 && item.revents & (POLLRDHUP | POLLHUP))
        (void)shutdown(operation->fd, SHUT_RD); /* fails where the end is a reset, and wakes all the same */
}

static void look_at_silent(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_list *heard = &ring_of(loop)->heard, *next;

    for (struct uw_list *link = heard->next; link != heard; link = next) {
        struct uw_operation *operation = uw_owner(link, struct uw_operation, heard);

        next = link->next;
        if (operation->silent) {
            uw_list_remove(&operation->heard);
            have_end_told(operation);
        }
        operation->silent = true;
    }
    if (!uw_list_empty(heard))
        uw_timers_start(&loop->timers, timer, loop->now_ns + LOOK_AFTER_NS);
}

static struct uw_operation *operation_of(const struct io_uring_cqe *cqe)
{
    return (struct uw_operation *)((uintptr_t)cqe->user_data & ~(uintptr_t)(CANCEL_MARK | ACCEPT_MARK));
}

/* Delivers one completion; returns 1 when it used a provided buffer, which has then been put back at `place`. */
static int take(struct uw_loop *loop, const struct io_uring_cqe *cqe, int place)
{
    struct uw_operation *operation = operation_of(cqe);
    struct ring *ring = ring_of(loop);
    int buffer = cqe->flags & IORING_CQE_F_BUFFER ? (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT) : -1;

    ring->unfinished |= cqe->res == -ENOBUFS;
    if (operation) {
        if (buffer >= 0)
            operation->data = buffer_at(ring, buffer);
        if (cqe->user_data & CANCEL_MARK)
            deliver_cancellation(loop, operation, cqe->res);
        else if (operation->polling)
            deliver_poll(loop, operation, cqe->res);
        else
            deliver(loop, operation, cqe->res, cqe->flags & IORING_CQE_F_MORE);
    }
    if (buffer < 0)
        return 0;
    provide_buffer(ring, buffer, place);
    return 1;
}

static void take_all(struct uw_loop *loop)
{
    struct io_uring_cqe *batch[COMPLETIONS_PER_ADVANCE];
    struct ring *ring = ring_of(loop);
    unsigned count;

    while ((count = io_uring_peek_batch_cqe(&ring->uring, batch, COMPLETIONS_PER_ADVANCE)) > 0) {
        int buffers = 0;

        for (unsigned i = 0; i < count; i++) {
            if (i + PREFETCHED_AHEAD < count)
                __builtin_prefetch(operation_of(batch[i + PREFETCHED_AHEAD]));
            buffers += take(loop, batch[i], buffers);
        }
        ring->told += count;
        ring->received += (unsigned)buffers;
        io_uring_buf_ring_cq_advance(&ring->uring, ring->buffers, buffers);
        /* That advanced both rings by the number of buffers; the rest are completions without one. */
        io_uring_cq_advance(&ring->uring, count - (unsigned)buffers);
        if (count < COMPLETIONS_PER_ADVANCE)
            return;
    }
}

/* Completions that say the last word on an operation, counted and dropped. Whoever was accepted is let go. */
static unsigned drop_completions(struct ring *ring)
{
    struct io_uring_cqe *cqe;
    unsigned ended = 0;

    while (io_uring_peek_cqe(&ring->uring, &cqe) == 0) {
        ended += operation_of(cqe) && !(cqe->flags & IORING_CQE_F_MORE) && !(cqe->user_data & CANCEL_MARK);
        if (cqe->user_data & ACCEPT_MARK && cqe->res >= 0)
            uw_hang_up(cqe->res);
        io_uring_cqe_seen(&ring->uring, cqe);
    }
    return ended;
}

/* Returns how many of `left` operations have ended before nothing came for a while. */
static size_t cancel_all(struct ring *ring, size_t left)
{
    struct __kernel_timespec patience = {.tv_nsec = CLOSE_WAIT_NS};
    struct io_uring_sqe *entry = next_entry(ring);
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

/* The kernel lets go of what is in flight only some time after the ring was left: then a port would still be taken, or
 * a buffer be written to. So every operation is ended first. */
static void end_all(struct uw_loop *loop, struct ring *ring)
{
    size_t left = loop->pending - ring->half_ended;

    for (const struct uw_operation *operation = loop->completed; operation; operation = operation->next)
        left--; /* the kernel does not know it any more */
    for (int tries = 0; left > 0 && tries < CLOSE_TRIES_MAX; tries++) {
        size_t ended = cancel_all(ring, left);

        left -= ended < left ? ended : left;
    }
}

/* What another thread put into the queue would be carried out for the ring's thread, if that is not the kernel's. */
static bool may_submit(const struct uw_loop *loop, const struct ring *ring)
{
    return loop->owner == uw_thread_id() || polled(ring);
}

static void ring_close(struct uw_loop *loop)
{
    struct ring *ring = ring_of(loop);

    if (ring->process == getpid()) {
        if (may_submit(loop, ring))
            end_all(loop, ring);
        (void)drop_completions(ring);
    }
    uw_timers_stop(&loop->timers, &ring->cancel_again);
    uw_timers_stop(&loop->timers, &ring->look);
    io_uring_queue_exit(&ring->uring);
    unmap_buffers(ring);
    free(ring);
}

/* The completions that a wait is for; see gather_max. */
static unsigned least_completions(struct ring *ring, unsigned gather_max)
{
    unsigned gathered = ring->received < gather_max ? ring->received : gather_max;
    unsigned least = gathered > 1 ? gathered + ring->sends : 1;

    ring->received = ring->sends = 0;
    return least;
}

static int submit_and_wait_some(struct ring *ring, unsigned least, int64_t wait_ns)
{
    struct __kernel_timespec timeout = {.tv_sec = wait_ns / UW_NS_PER_SECOND, .tv_nsec = wait_ns % UW_NS_PER_SECOND};
    struct io_uring_cqe *first;

    if (wait_ns == UW_FOREVER)
        return io_uring_submit_and_wait(&ring->uring, least);
    return io_uring_submit_and_wait_timeout(&ring->uring, &first, least, &timeout, NULL);
}

/* A signal does not end it. */
static bool goes_on(int result)
{
    return result >= 0 || result == -ETIME || result == -EINTR;
}

/* The polling thread takes what is submitted in its own time. */
static int await_polling_thread(struct ring *ring)
{
    int result = io_uring_submit(&ring->uring);

    for (int i = 0; i < POLLING_WAITS_MAX && io_uring_sq_ready(&ring->uring) && goes_on(result); i++)
        result = submit_and_wait_some(ring, COMPLETIONS, POLLING_WAIT_NS);
    return result;
}

static void submit_nothing(struct ring *ring)
{
    struct io_uring_sqe *entry = next_entry(ring);

    if (!entry)
        return;
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data(entry, NULL);
    entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

/* Between two looks at what is submitted the polling thread looks at what has become ready. */
static int let_it_look(struct ring *ring)
{
    int result = 0;

    for (int looks = 0; looks < 2 && goes_on(result); looks++) {
        submit_nothing(ring);
        result = await_polling_thread(ring);
    }
    return result;
}

/* In a turn that began late, or to settle. To wait for a full queue lifts the kernel's bound on what one call
 * completes. */
static int submit_and_catch_up(struct ring *ring)
{
    return polled(ring) ? let_it_look(ring) : submit_and_wait_some(ring, COMPLETIONS, 0);
}

static void ring_settle(struct uw_loop *loop)
{
    (void)submit_and_catch_up(ring_of(loop)); /* a failure is told in the turn that follows */
}

static int submit_and_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct ring *ring = ring_of(loop);
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
    return result == -ETIME ? 0 : result; /* there may be something yet */
}

static int ring_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct ring *ring = ring_of(loop);
    int result = submit_and_wait(loop, wait_ns);

    if (result == -ETIME && polled(ring)) /* it may have been away itself, as when the process was stopped */
        (void)let_it_look(ring);
    loop->now_ns = uw_clock_ns();
    /* EBUSY, EAGAIN: the kernel wants completions taken before it accepts more. */
    if (result < 0 && result != -ETIME && result != -EINTR && result != -EBUSY && result != -EAGAIN)
        return result;
    ring->told = 0;
    ring->unfinished = false;
    take_all(loop);
    if (result == -ETIME && !ring->told)
        return UW_TOLD_NOTHING;
    return ring->unfinished || (result < 0 && result != -ETIME) ? UW_TOLD_SOME : UW_TOLD_ALL;
}

const struct uw_backend uw_backend_io_uring = {
    .name = "io_uring",
    .open = ring_open,
    .close = ring_close,
    .submit = ring_submit,
    .cancel = ring_cancel,
    .flush = ring_flush,
    .settle = ring_settle,
    .wait = ring_wait,
};

/* The same with a thread of the kernel that looks for submissions all the time (SQPOLL): no system call hands them
 * over.
 */
const struct uw_backend uw_backend_io_uring_sqpoll = {
    .name = "io_uring_sqpoll",
    .open = polled_ring_open,
    .close = ring_close,
    .submit = ring_submit,
    .cancel = ring_cancel,
    .flush = ring_flush,
    .settle = ring_settle,
    .wait = ring_wait,
};

#else
typedef int uw_backend_io_uring_is_left_out; /* ISO C wants a declaration */
#endif
