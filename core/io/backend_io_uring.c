/* io_uring through liburing: one ring for each loop, and one io_uring_enter in each turn, which submits and waits.
 * Accept and receive are multishot. Receives use a ring of provided buffers. See `man 7 io_uring`. */
#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/processor_count.h"
#include "io/accept_errors.h"
#include "io/backend.h"
#include "io/liburing_library.h"
#include "io/sendfile.h"
#include "io/shutdown_and_close.h"

#define SUBMISSIONS 1024              /* entries queued before a submission is forced */
#define COMPLETIONS (SUBMISSIONS * 8) /* the kernel keeps completions that overflow and delivers them later */
#define COMPLETIONS_PER_ADVANCE 256   /* completions read before the ring is advanced */
#define PREFETCHED_AHEAD 4            /* completions prefetched ahead: among many, each operation is a cache miss */
#define RECEIVE_BUFFERS 512           /* a power of two */
#define RECEIVE_BUFFER_BYTES 16384    /* only pages that were written use memory */
#define RECEIVE_GROUP 0
#define ACCEPT_DONTWAIT (1U << 1)           /* IORING_ACCEPT_DONTWAIT, which liburing 2.3 does not name */
#define POLLING_IDLE_MS 20                  /* idle time after which the polling thread sleeps */
#define POLLING_WAIT_NS (50 * UW_NS_PER_US) /* one wait for the polling thread in a late turn */
#define POLLING_WAITS_MAX 4000
#define CANCEL_AGAIN_NS (5 * UW_NS_PER_MS) /* delay after a failed cancellation */
#define TRY_AGAIN_NS UW_NS_PER_MS          /* first delay before a ready stream is tried again; later ones are longer */
#define LOOK_AFTER_NS UW_NS_PER_SECOND /* without bytes for so long, a stream is checked for its end; see watch_eof */
#define CLOSE_WAIT_NS (100 * UW_NS_PER_MS) /* limit for an operation that cannot be cancelled */
#define CLOSE_TURNS_MAX 1000
#define CLOSE_TRIES_MAX 2 /* attempts to cancel the remaining operations; see ring_cancel */

/* These bits mark user data; addresses of operations are multiples of 4. One marks a cancellation. The other marks an
 * accept, because a closing loop may no longer read the operation. */
#define CANCEL_MARK 1
#define ACCEPT_MARK 2

_Static_assert(RECEIVE_BUFFER_BYTES <= UW_RECEIVE_BYTES_MAX, "a buffer holds one result");

struct ring {
    struct io_uring uring;
    struct io_uring_buf_ring *buffers;
    char *memory;             /* memory of the buffers */
    unsigned received, sends; /* since the last wait: buffers filled; sends queued, most complete at once */
    unsigned told;            /* completions in this wait */
    bool unfinished;          /* in this wait a receive found no free buffer, or a ready stream is not read yet */
    struct uw_operation *uncancelled; /* operations that cancel_again cancels again */
    struct uw_timer cancel_again;
    struct uw_list eof_watch; /* receives that brought bytes recently */
    struct uw_timer look;
    size_t half_ended;              /* ended operations whose cancellation is still pending */
    struct uw_operation *delivered; /* the operation whose callback runs, while the kernel does not have it */
    pid_t process;                  /* the process that opened the ring; a child process shares its memory */
};

static struct ring *ring_of(struct uw_loop *loop)
{
    return loop->backend_state;
}

/* Returns whether a kernel thread polls for submissions. */
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
    /* io_uring_register_ring_fd would save a descriptor look-up for each call, but it registers for one thread. Another
     * thread may close the ring (the garbage collector, after the loop's thread has ended), and would remove its own
     * registration. */
    return 0;
}

static void cancel_again(struct uw_loop *loop, struct uw_timer *timer);
static void look_at_silent(struct uw_loop *loop, struct uw_timer *timer);

static int open_with(struct uw_loop *loop, unsigned flags)
{
    struct ring *ring;
    int error;

    if (uw_liburing_missing())
        return -ELIBACC;
    ring = calloc(1, sizeof *ring);
    if (!ring)
        return -ENOMEM;
    ring->process = getpid();
    ring->cancel_again = (struct uw_timer){.expire = cancel_again, .check_only = true};
    ring->look = (struct uw_timer){.expire = look_at_silent, .check_only = true};
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

/* Submits a full queue to the kernel. A polling thread reads the entries asynchronously. */
static bool make_room(struct ring *ring)
{
    while (!io_uring_sq_space_left(&ring->uring))
        if (io_uring_submit(&ring->uring) < 0 || (polled(ring) && __io_uring_sqring_wait(&ring->uring) < 0))
            return false;
    return true;
}

/* Returns a free submission entry, or NULL. */
static struct io_uring_sqe *next_entry(struct ring *ring)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);

    return entry || !make_room(ring) ? entry : io_uring_get_sqe(&ring->uring);
}

/* The listening socket keeps its O_NONBLOCK flag, because other processes may accept from it. Since Linux 5.19 the
 * kernel waits in spite of the flag. */
static void prepare_accept(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->oneshot)
        io_uring_prep_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    else
        io_uring_prep_multishot_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void prepare_accept_waiting(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    io_uring_prep_accept(entry, operation->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    entry->ioprio |= ACCEPT_DONTWAIT;
}

/* With MSG_WAITALL the kernel resumes short sends itself, where it can. */
static unsigned send_flags(const struct uw_operation *operation)
{
    return MSG_NOSIGNAL | (operation->no_waitall ? 0U : MSG_WAITALL) | (operation->more ? MSG_MORE : 0U);
}

static void prepare_send(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    io_uring_prep_send(entry, operation->fd, (char *)operation->data + operation->done,
                       operation->length - operation->done, send_flags(operation));
}

static void prepare_receive(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    if (operation->oneshot)
        io_uring_prep_recv(entry, operation->fd, NULL, 0, 0);
    else
        io_uring_prep_recv_multishot(entry, operation->fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = RECEIVE_GROUP;
}

/* POLL_FIRST skips a first try: a caller that waits for a socket has usually found it empty. */
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

/* The kernel never wakes a poll for POLLPRI alone. So the poll includes POLLRDBAND, which the same data raises. */
static bool is_for_urgent(const struct uw_operation *operation)
{
    bool polls = operation->opcode == UW_POLL || operation->opcode == UW_WATCH;

    return polls && operation->length & POLLPRI;
}

static void prepare(struct io_uring_sqe *entry, const struct uw_operation *operation)
{
    switch (operation->opcode) {
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
    case UW_SEND_FILE: /* the kernel has no such operation: poll for writability, then call sendfile(2) */
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
    case UW_WATCH: /* the kernel's multishot poll reports only changes, so each poll is for one event */
        io_uring_prep_poll_add(entry, operation->fd, operation->length | (is_for_urgent(operation) ? POLLRDBAND : 0));
        break;
    }
}

static bool is_stream(const struct uw_operation *operation)
{
    return (operation->opcode == UW_READ || operation->opcode == UW_WRITE) && operation->offset < 0 &&
           !operation->socket;
}

/* A stream of an unknown kind is polled before the read or write. On some non-blocking descriptors the kernel would
 * return EAGAIN instead of waiting. */
static bool polls_first(const struct uw_operation *operation)
{
    return is_stream(operation) && !operation->pollable;
}

static short awaited_event(const struct uw_operation *operation)
{
    return operation->opcode == UW_READ ? POLLIN : POLLOUT;
}

static bool ready_now(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = awaited_event(operation)};

    return poll(&item, 1, 0) != 0;
}

static uintptr_t data_of(const struct uw_operation *operation)
{
    bool accepts = operation->opcode == UW_ACCEPT || operation->opcode == UW_ACCEPT_WAITING;

    return (uintptr_t)operation | (accepts ? ACCEPT_MARK : 0);
}

/* The poll is not linked to the read or write. The kernel looks up a linked operation's file only after the poll, and
 * by then the number may be another file's. */
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
        ring_of(loop)->sends += operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR;
    }
    io_uring_sqe_set_data64(entry, data_of(operation));
}

static void ring_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    int64_t result = operation->opcode == UW_SEND_FILE ? uw_send_file_part(loop, operation) : -EAGAIN;

    if (result == -EAGAIN)
        enqueue(loop, operation);
    else
        uw_complete_later(loop, operation, (int32_t)result);
}

/* Linux may fail to report an end of stream to a multishot receive if the end arrives together with bytes (seen on
 * 6.18: one reset in 60,000). So the loop checks a stream once when no more bytes follow. */
static void watch_eof(struct uw_loop *loop, struct uw_operation *operation)
{
    struct ring *ring = ring_of(loop);

    if (!ring->look.active)
        uw_timers_start(&loop->timers, &ring->look, loop->now_ns + LOOK_AFTER_NS);
    if (uw_list_empty(&operation->eof_watch))
        uw_list_append(&ring->eof_watch, &operation->eof_watch);
    operation->eof_quiet = false;
}

/* The owner gets an operation back only after its cancellation has ended too, because the cancellation refers to it. */
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

/* The kernel may accept no submission now. It may miss an operation that moves between its queues (ENOENT), or find it
 * in a worker that does not react (EALREADY). So the loop cancels again until the operation ends. */
static void ring_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct ring *ring = ring_of(loop);

    uw_list_remove(&operation->eof_watch);
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

/* The operation ended before it was cancelled again. */
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

static bool sends(const struct uw_operation *operation)
{
    return operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR ||
           (operation->opcode == UW_WRITE && operation->socket);
}

/* An interrupted kernel worker and a result that would be tried again both count as cancelled. */
static int32_t cancelled_result(const struct uw_operation *operation, int32_t result)
{
    bool again = result == -EAGAIN && (is_stream(operation) || sends(operation));

    return result == -EINTR || again ? -ECANCELED : result;
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

    /* The next turn meets the same failure and reports it. */
    if (io_uring_sq_ready(&ring->uring))
        (void)io_uring_submit(&ring->uring);
}

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
    return is_stream(operation) && result == -EAGAIN && !operation->cancelled;
}

/* When the peer closes its side, Linux wakes a send that waits for buffer space. The send finds none and gives up after
 * 128 such tries in a row. */
static bool gave_up(const struct uw_operation *operation, int32_t result)
{
    return result == -EAGAIN && sends(operation) && !operation->cancelled;
}

/* Each retry waits longer; the last delay repeats. */
static struct __kernel_timespec pauses[] = {
    {.tv_nsec = TRY_AGAIN_NS},     {.tv_nsec = 2 * TRY_AGAIN_NS},  {.tv_nsec = 4 * TRY_AGAIN_NS},
    {.tv_nsec = 8 * TRY_AGAIN_NS}, {.tv_nsec = 16 * TRY_AGAIN_NS}, {.tv_nsec = 32 * TRY_AGAIN_NS},
};
#define PAUSES ((int)(sizeof pauses / sizeof *pauses))

/* The timeout replaces the poll. */
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

/* An eventfd may be ready, but not for a number this large. A poll would then make the loop spin. */
static void try_again(struct uw_loop *loop, struct uw_operation *operation)
{
    bool was_ready = polls_first(operation);

    operation->pollable = false;
    if (was_ready && ready_now(operation))
        try_later(loop, operation);
    else
        ring_submit(loop, operation);
}

/* A send reports all its bytes, or none. */
static void deliver_single(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    bool counts = operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR;
    bool left = result > 0 && left_to_send(operation, result);

    if (left && !operation->cancelled)
        ring_submit(loop, operation);
    else if (left)
        finish(loop, operation, -ECANCELED);
    else
        finish(loop, operation, counts && result > 0 ? (int32_t)operation->done : result);
}

/* The callback runs before the resubmission. An owner that cancels in the callback gets no further result. */
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
    if (operation->opcode != UW_WATCH && brings(operation, result)) {
        step_on(loop, operation, result);
        return;
    }
    ring_submit(loop, operation);
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
        return operation->polling ? (uint32_t)awaited_event(operation) : UINT32_MAX;
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
        finish(loop, operation, -ECANCELED);
    else
        try_later(loop, operation);
}

/* Handles the end of the poll before a stream's read or write, or of the pause. */
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

/* Ordinary data wakes the kernel's poll too, which then reports every event that the wake-up may mean. A result without
 * POLLRDBAND was checked by the kernel and is valid. Some files report an event only once. */
static int32_t without_false_alarm(const struct uw_operation *operation, int32_t result)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLPRI};

    if (result <= 0 || !(result & POLLRDBAND) || !is_for_urgent(operation))
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
        watch_eof(loop, operation);
    if (is_no_event(operation, result)) {
        wait_on(loop, operation);
    } else if (early && !operation->cancelled) {
        go_on(loop, operation, result);
    } else if (more || early) { /* a result that came before the cancellation counts */
        if (brings(operation, result))
            operation->complete(loop, operation, result);
        if (early)
            finish(loop, operation, -ECANCELED);
    } else if (tries_again(operation, result)) {
        try_again(loop, operation);
    } else if (gave_up(operation, result)) {
        try_later(loop, operation);
    } else {
        deliver_single(loop, operation, result);
    }
}

/* shutdown(2) drops nothing, since nothing more can arrive. It makes the kernel check the stream again. */
static void have_end_told(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLRDHUP};

    if (poll(&item, 1, 0) > 0 && item.revents & (POLLRDHUP | POLLHUP))
        (void)shutdown(operation->fd, SHUT_RD); /* fails after a reset, but wakes the kernel all the same */
}

static void look_at_silent(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_list *eof_watch = &ring_of(loop)->eof_watch, *next;

    for (struct uw_list *link = eof_watch->next; link != eof_watch; link = next) {
        struct uw_operation *operation = uw_container_of(link, struct uw_operation, eof_watch);

        next = link->next;
        if (operation->eof_quiet) {
            uw_list_remove(&operation->eof_watch);
            have_end_told(operation);
        }
        operation->eof_quiet = true;
    }
    if (!uw_list_empty(eof_watch))
        uw_timers_start(&loop->timers, timer, loop->now_ns + LOOK_AFTER_NS);
}

static struct uw_operation *operation_of(const struct io_uring_cqe *cqe)
{
    return (struct uw_operation *)((uintptr_t)cqe->user_data & ~(uintptr_t)(CANCEL_MARK | ACCEPT_MARK));
}

/* Delivers one completion. Returns 1 if the completion used a provided buffer, which is back at `place`. */
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
        /* That call advanced both rings by the number of buffers. The other completions used no buffer. */
        io_uring_cq_advance(&ring->uring, count - (unsigned)buffers);
        if (count < COMPLETIONS_PER_ADVANCE)
            return;
    }
}

/* Drops completions and counts those that end an operation. Accepted connections are closed. */
static unsigned drop_completions(struct ring *ring)
{
    struct io_uring_cqe *cqe;
    unsigned ended = 0;

    while (io_uring_peek_batch_cqe(&ring->uring, &cqe, 1) == 1) {
        ended += operation_of(cqe) && !(cqe->flags & IORING_CQE_F_MORE) && !(cqe->user_data & CANCEL_MARK);
        if (cqe->user_data & ACCEPT_MARK && cqe->res >= 0)
            uw_shutdown_and_close(cqe->res);
        io_uring_cqe_seen(&ring->uring, cqe);
    }
    return ended;
}

/* Returns how many of the `left` remaining operations ended before a wait timed out. */
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

/* The kernel releases operations in flight only some time after the ring is closed. A port would remain in use, or a
 * buffer would be written to. So every operation ends first. */
static void end_all(struct uw_loop *loop, struct ring *ring)
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

/* Returns how many completions a wait is for; see gather_max. */
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

/* Returns whether the wait may continue: a signal does not end it. */
static bool goes_on(int result)
{
    return result >= 0 || result == -ETIME || result == -EINTR;
}

/* The polling thread reads submissions asynchronously, so this call waits for an empty queue. */
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

/* The polling thread looks for ready operations between two looks at the queue. Two no-ops make it do so. */
static int let_it_look(struct ring *ring)
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
static int submit_and_catch_up(struct ring *ring)
{
    return polled(ring) ? let_it_look(ring) : submit_and_wait_some(ring, COMPLETIONS, 0);
}

static void ring_settle(struct uw_loop *loop)
{
    (void)submit_and_catch_up(ring_of(loop)); /* the next turn reports a failure */
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
    return result == -ETIME ? 0 : result; /* the gathering ended, not the wait */
}

/* The errors of io_uring_enter(2), and what the loop does about each:
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

static int ring_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct ring *ring = ring_of(loop);
    int result = submit_and_wait(loop, wait_ns);

    if (result == -ETIME && polled(ring)) /* the polling thread may have been stopped together with the process */
        (void)let_it_look(ring);
    loop->now_ns = uw_clock_ns();
    if (result < 0 && !is_temporary(result))
        return result;
    ring->told = 0;
    ring->unfinished = false;
    take_all(loop);
    if (result == -ETIME && !ring->told)
        return UW_WAIT_NOTHING;
    return ring->unfinished || (result < 0 && result != -ETIME) ? UW_WAIT_SOME : UW_WAIT_ALL;
}

const struct uw_backend uw_backend_io_uring = {
    .name = "io_uring",
    .missing = uw_liburing_missing,
    .open = ring_open,
    .close = ring_close,
    .submit = ring_submit,
    .cancel = ring_cancel,
    .flush = ring_flush,
    .settle = ring_settle,
    .wait = ring_wait,
};

/* In this variant a kernel thread polls for submissions (SQPOLL), so a submission needs no system call. */
const struct uw_backend uw_backend_io_uring_sqpoll = {
    .name = "io_uring_sqpoll",
    .missing = uw_liburing_missing,
    .open = polled_ring_open,
    .close = ring_close,
    .submit = ring_submit,
    .cancel = ring_cancel,
    .flush = ring_flush,
    .settle = ring_settle,
    .wait = ring_wait,
};

#else
typedef int uw_backend_io_uring_is_left_out; /* ISO C requires a declaration */
#endif
