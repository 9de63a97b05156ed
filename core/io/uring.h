/* The parts of the backend io_uring, and the ring that they share.
 *
 * Each file uses only those before it: uring_buffers.c (buffers into which the kernel receives), uring_entry.c
 * (submission entries), uring_submission.c (queues operations), uring_eof_watch.c (ends of streams that the kernel does
 * not report), uring_cancellation.c, uring_completion.c (completions to results), uring_wait.c (one system call submits
 * and waits), uring_close.c, backend_io_uring.c (opens rings, and has the table of functions). */
#ifndef UW_IO_URING_H
#define UW_IO_URING_H

#include "io/loop.h"

#ifdef UW_HAVE_IO_URING

#include <poll.h>

#include "io/liburing_library.h"

#define UW_URING_SUBMISSIONS 1024 /* entries queued before a submission is forced */
#define UW_URING_RECEIVE_GROUP 0

/* The kernel keeps completions that overflow and delivers them later. */
#define UW_URING_COMPLETIONS (UW_URING_SUBMISSIONS * 8)

/* These bits mark user data; addresses of operations are multiples of 4. One marks a cancellation. The other marks an
 * accept by the kernel, because a closing loop may no longer read the operation. */
#define UW_URING_CANCEL_MARK 1
#define UW_URING_ACCEPT_MARK 2

struct uw_uring {
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

static inline struct uw_uring *uw_uring_of(struct uw_loop *loop)
{
    return loop->backend_state;
}

/* Returns whether a kernel thread polls for submissions. */
static inline bool uw_uring_polled(const struct uw_uring *ring)
{
    return ring->uring.flags & IORING_SETUP_SQPOLL;
}

/* Returns whether the operation reads or writes a stream that is not known to be a socket. */
static inline bool uw_uring_is_stream(const struct uw_operation *operation)
{
    return (operation->opcode == UW_READ || operation->opcode == UW_WRITE) && operation->offset < 0 &&
           !operation->socket;
}

/* Returns whether the kernel only waits for clients, and the loop accepts them. An accept in the kernel would be woken
 * for a client even while this process computes or is stopped, and other processes would not. */
static inline bool uw_uring_accepts_itself(const struct uw_operation *operation)
{
    return operation->opcode == UW_ACCEPT && operation->shared;
}

/* Returns the event after which such an operation can continue. */
static inline short uw_uring_awaited_event(const struct uw_operation *operation)
{
    return operation->opcode == UW_WRITE ? POLLOUT : POLLIN;
}

/* The kernel never wakes a poll for POLLPRI alone. So the poll includes POLLRDBAND, which the same data raises. */
static inline bool uw_uring_is_for_urgent(const struct uw_operation *operation)
{
    bool polls = operation->opcode == UW_POLL || operation->opcode == UW_WATCH;

    return polls && operation->length & POLLPRI;
}

static inline bool uw_uring_sends(const struct uw_operation *operation)
{
    return operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR ||
           (operation->opcode == UW_WRITE && operation->socket);
}

/* Returns the user data of the operation's submissions. */
static inline uintptr_t uw_uring_data_of(const struct uw_operation *operation)
{
    bool accepts = operation->opcode == UW_ACCEPT || operation->opcode == UW_ACCEPT_WAITING;

    return (uintptr_t)operation | (accepts && !uw_uring_accepts_itself(operation) ? UW_URING_ACCEPT_MARK : 0);
}

static inline struct uw_operation *uw_uring_operation_of(const struct io_uring_cqe *cqe)
{
    return (struct uw_operation *)((uintptr_t)cqe->user_data &
                                   ~(uintptr_t)(UW_URING_CANCEL_MARK | UW_URING_ACCEPT_MARK));
}

/* uring_buffers.c */

/* Maps the buffers and gives them to the kernel. Returns 0 or -errno. */
int uw_uring_register_buffers(struct uw_uring *ring);
void uw_uring_unmap_buffers(struct uw_uring *ring);

char *uw_uring_buffer_at(const struct uw_uring *ring, int id);

/* Puts a buffer back, `place` entries after the end of the kernel's queue. The queue is advanced afterwards. */
void uw_uring_provide_buffer(struct uw_uring *ring, int id, int place);

/* uring_entry.c */

/* Returns a free submission entry, or NULL. */
struct io_uring_sqe *uw_uring_next_entry(struct uw_uring *ring);

/* Writes an operation into an entry, without its user data. */
void uw_uring_prepare(struct io_uring_sqe *entry, const struct uw_operation *operation);

/* uring_submission.c */

/* These functions implement the table of backend.h, like uw_uring_cancel, _settle, _wait and _close below. */
void uw_uring_submit(struct uw_loop *loop, struct uw_operation *operation);
void uw_uring_flush(struct uw_loop *loop);

/* Submits an operation after a pause, which grows with each call in a row. */
void uw_uring_try_later(struct uw_loop *loop, struct uw_operation *operation);

/* Submits the read or write of a stream for which the kernel did not wait. */
void uw_uring_try_again(struct uw_loop *loop, struct uw_operation *operation);

/* uring_eof_watch.c */

/* Checks the stream of a receive for its end when no more bytes follow. */
void uw_uring_watch_eof(struct uw_loop *loop, struct uw_operation *operation);
uw_expire uw_uring_check_quiet_streams; /* of the timer `look` */

/* uring_cancellation.c */

void uw_uring_cancel(struct uw_loop *loop, struct uw_operation *operation);
uw_expire uw_uring_cancel_again; /* of the timer `cancel_again` */

/* Delivers the final result of an operation that may have been cancelled. */
void uw_uring_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Handles the completion of a cancellation. */
void uw_uring_deliver_cancellation(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* uring_completion.c */

/* Delivers all completions that the kernel has. */
void uw_uring_take_all(struct uw_loop *loop);

/* uring_wait.c */

void uw_uring_settle(struct uw_loop *loop);
int uw_uring_wait(struct uw_loop *loop, int64_t wait_ns);

/* uring_close.c */

void uw_uring_close(struct uw_loop *loop);

#endif
#endif
