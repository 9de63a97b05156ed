/* The event loop takes operations and returns completions. The caller fills a struct uw_operation. The loop completes
 * it with one signed result: bytes, a descriptor, events, or -errno.
 *
 *     struct uw_operation receive = {.opcode = UW_RECEIVE, .fd = fd, .complete = received};
 *     uw_submit(loop, &receive);
 *     while (uw_loop_turn(loop, UW_FOREVER) >= 0) ...
 *
 * A loop belongs to the thread that opened it. Other threads may call only uw_loop_wake, uw_loop_post and
 * uw_loop_post_bulk. They may call uw_loop_close after that thread has ended, or in a child process. */
#ifndef UW_IO_LOOP_H
#define UW_IO_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/system.h"
#include "base/thread_ownership.h"
#include "base/timers.h"

#define UW_FOREVER INT64_MAX
#define UW_RECEIVE_BYTES_MAX 65536 /* maximum of one result of UW_RECEIVE */

struct uw_loop;
struct uw_operation;

/* The loop's thread calls this with a result of `operation`. A multishot operation (UW_ACCEPT, UW_RECEIVE, UW_WATCH) is
 * still `pending` while more results may come. Any other operation belongs to the caller again, and the callback may
 * submit it again. */
typedef void uw_complete(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

enum uw_io_opcode {
    UW_ACCEPT, /* multishot: each result is a connected descriptor, non-blocking and close-on-exec; ends with -errno */
    UW_ACCEPT_WAITING, /* accepts one client that waits already, as UW_ACCEPT does, or completes with -EAGAIN; io_uring
                          before Linux 6.10: -EINVAL. For a listening socket shared with another loop of the same
                          backend */
    UW_RECEIVE, /* multishot: each result is a number of bytes at `data`, valid only during the callback; the last is 0
                   at the end of the stream, or -errno */
    UW_SEND,    /* sends all `length` bytes at `data`, however long this takes; the result is `length` or -errno; never
                   raises SIGPIPE */
    UW_SEND_VECTOR, /* sends all parts of the struct msghdr at `data` in the same way; the loop advances its vector; the
                       result is the sum */
    UW_SEND_FILE,   /* sends `length` bytes of the regular file `file` from `offset`; the result is smaller if the file
                       ends before, or -errno; never raises SIGPIPE. The socket must be non-blocking */
    UW_READ,  /* reads at most `length` bytes into `data`, at `offset` of a file, or with -1 at the current position and
                 from streams; waits for data, on non-blocking descriptors too */
    UW_WRITE, /* writes at most `length` bytes from `data`, with the `offset` of UW_READ */
    UW_CONNECT, /* connects to the address `data` of `length` bytes: 0 or -errno */
    UW_POLL,    /* waits for the events in `length` (POLLIN, POLLPRI, POLLOUT); the result is the events that occurred,
                   POLLERR and POLLHUP included */
    UW_WATCH, /* multishot, level-triggered: a result as of UW_POLL in every turn with an event; ends with -errno; on an
                 always ready file it may end after a result */
};

struct uw_operation {
    uw_complete *complete;
    void *data; /* the loop only reads it for UW_SEND, UW_WRITE and UW_CONNECT */
    int64_t offset;
    uint32_t length;
    uint32_t done; /* private: bytes sent so far */
    int32_t fd;
    int32_t result;            /* private */
    struct uw_operation *next; /* private: links waiting or completed operations */
    struct uw_list eof_watch;  /* private: links receives that got bytes recently */
    uint8_t opcode;
    bool pending; /* set by the loop: submitted and not yet finally completed */
    bool cancelled;
    bool ended;      /* private: the next turn delivers `result` */
    bool more;       /* sends: more bytes follow at once, so an incomplete packet may wait for them */
    bool no_waitall; /* sends: MSG_WAITALL is not used, because kernel TLS, for one, refuses it */
    bool oneshot;    /* UW_RECEIVE, UW_ACCEPT: the loop delivers one result at a time, so an owner that cancels in the
                         callback gets no further result; takes effect at the next submission or result. The readiness
                         backends always do so */
    bool shared;   /* UW_ACCEPT: other processes accept from the socket too. The loop accepts at most one client a turn,
                      and none while it does not turn */
    bool socket;   /* UW_READ, UW_WRITE: `fd` is a socket, so the wait costs less */
    bool pollable; /* UW_READ, UW_WRITE: a try without waiting returned EAGAIN, so the kernel can wait for `fd` and
                      another try is useless */
    bool polling;  /* private: the kernel waits until `fd` is ready */
    uint8_t pauses;  /* private: consecutive polls without an event */
    bool cancelling; /* private: the kernel has not yet reported the cancellation */
    bool eof_quiet;  /* private: a receive in `eof_watch` got no bytes since the last check */
    int32_t file;    /* UW_SEND_FILE: the file */
};

/* A message to a loop from another thread. The message lives in its owner until the loop's thread calls `receive`. */
struct uw_message {
    struct uw_message *next;
    void (*receive)(struct uw_loop *loop, struct uw_message *message);
};

typedef void uw_expire(struct uw_loop *loop, struct uw_timer *timer);

struct uw_loop {
    const struct uw_backend *backend;
    void *backend_state;
    uint64_t owner; /* the thread that opened the loop; the kernel may serve no other */
    int64_t now_ns; /* the time when this turn's wait ended */
    struct uw_timers timers;
    struct uw_list due; /* timers that were due when this turn began */
    uw_expire *expire;  /* handles every due timer without a function of its own */

    struct uw_operation *completed, **completed_tail; /* results found at submission, for the next turn */

    struct uw_wakeup wakeup;
    struct uw_operation wake_poll;
    atomic_bool waiting; /* the thread is in the kernel or about to enter, so a post must wake it */
    _Atomic(struct uw_message *) posted;
    _Atomic(struct uw_message *) bulk_posted;   /* messages of uw_loop_post_bulk that are not in `bulk_first` yet */
    struct uw_message *bulk_first, **bulk_tail; /* private: messages in their order */

    uint64_t turns, submitted, wakes; /* counters, never reset */
    _Atomic uint64_t wake_calls;      /* counts uw_loop_wake; the wake may come in a later wait */
    size_t pending;                   /* operations not yet finally completed */

    bool turning;                         /* uw_loop_turn runs */
    bool overdue;                         /* a timer that is not harmless was due when this turn began */
    bool sigpipe_blocked, sigpipe_raised; /* SIGPIPE of the thread while files are sent: see sendfile.c */

    /* After a turn that received from several streams, the next wait gathers as many completions, up to this number. It
     * lasts at most UW_GATHER_NS. Each wake-up costs both sides time, so this suits an owner without other work. 0:
     * never. */
    unsigned gather_max;

    /* Data that a user of the loop shares among its operations, and the function that frees the data with the loop; or
     * NULL. */
    void *loop_data;
    void (*free_loop_data)(void *loop_data);
};

#define UW_GATHER_NS (100 * UW_NS_PER_US)

/* Opens a loop on the named backend, or for NULL on the first of uw_backends that works here. `expire` handles every
 * due timer without a function of its own; without such timers it may be NULL. Returns 0; -ENOENT for a name that is
 * not compiled in; or the -errno of the backend. */
int uw_loop_open(struct uw_loop *loop, const char *backend, uw_expire *expire);

/* Returns how many submitted operations have not ended, without the loop's own. */
static inline size_t uw_loop_operations(const struct uw_loop *loop)
{
    return loop->pending - loop->wake_poll.pending;
}

/* Ends every pending operation without a callback and frees the loop's resources. The struct itself belongs to the
 * caller. */
void uw_loop_close(struct uw_loop *loop);

/* Runs one turn (one iteration): submits the pending requests, waits at most `wait_ns` for an event, delivers
 * completions, messages and expired timers. I/O that completed before a deadline is delivered before that timer, even
 * if the turn started late. Timers marked `check_only` are exempt. Returns 0, or the -errno of a wait that failed (a
 * signal is no failure). */
int uw_loop_turn(struct uw_loop *loop, int64_t wait_ns);

/* Returns whether submitted operations go to the kernel together in the next turn, rather than one by one. */
bool uw_loop_queues(const struct uw_loop *loop);

/* Hands submissions and cancellations to the kernel now instead of in the next turn. Call this before a long
 * computation, or so that a cancelled operation reads no more. */
void uw_loop_flush(struct uw_loop *loop);

/* Call this before closing a descriptor whose cancelled operations are still pending. Otherwise the kernel may run them
 * on the next file with this number. */
void uw_loop_flush_sync(struct uw_loop *loop);

/* Makes the current or next wait return. Any thread and any signal handler may call this. */
void uw_loop_wake(struct uw_loop *loop);

/* Delivers `message` on the loop's thread, in each thread's order of posting. Any thread may call this. */
void uw_loop_post(struct uw_loop *loop, struct uw_message *message);

/* Posts a message of a kind that may come in great numbers. Such messages have a queue of their own, in the order in
 * which each thread posts them. The loop receives them for about UW_BULK_NS a turn, so that other work continues. */
void uw_loop_post_bulk(struct uw_loop *loop, struct uw_message *message);

#define UW_BULK_NS (2 * UW_NS_PER_MS)

/* Receives all posted messages that have not been received, after the last turn. The loop may be closed already. */
void uw_loop_receive(struct uw_loop *loop);

/* Starts `operation`, which must not move while it is pending. Failures arrive as completions too, never within this
 * call. */
void uw_submit(struct uw_loop *loop, struct uw_operation *operation);

/* Cancels a pending operation: it completes with -ECANCELED, or with its true result if that came first. */
void uw_cancel(struct uw_loop *loop, struct uw_operation *operation);

/* Closes a descriptor. A pending operation on it may end with -ECANCELED, or wait until it is cancelled. Returns 0 or
 * -errno. */
int uw_close(struct uw_loop *loop, int fd);

/* Starts a timer of this loop; `deadline_ns` is on the clock of uw_clock_ns. See base/timers.h. */
static inline void uw_timer_start(struct uw_loop *loop, struct uw_timer *timer, int64_t deadline_ns)
{
    UW_ASSERT_OWNER(loop);
    uw_timers_start(&loop->timers, timer, deadline_ns);
}

static inline void uw_timer_stop(struct uw_loop *loop, struct uw_timer *timer)
{
    UW_ASSERT_OWNER(loop);
    uw_timers_stop(&loop->timers, timer);
}

#endif
