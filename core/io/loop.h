/* The event loop. Operations go in, completions come out: the caller fills a struct uw_operation, the loop completes it
 * with one signed result: bytes, a descriptor, events, or -errno.
 *
 *     struct uw_operation receive = {.verb = UW_RECEIVE, .fd = fd, .complete = received};
 *     uw_submit(loop, &receive);
 *     while (uw_loop_turn(loop, UW_FOREVER) >= 0) ...
 *
 * A loop belongs to one thread: the one that opened it. Only uw_loop_wake and uw_loop_post may be called from others,
 * and uw_loop_close once that thread has ended, or in a child process.
 */
#ifndef UW_IO_LOOP_H
#define UW_IO_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/owner.h"
#include "base/system.h"
#include "base/timers.h"

#define UW_FOREVER INT64_MAX
#define UW_RECEIVE_BYTES_MAX 65536 /* a result of UW_RECEIVE brings no more */

struct uw_loop;
struct uw_operation;

/* Called on the loop's thread when `operation` has a result. A multishot operation (UW_ACCEPT, UW_RECEIVE, UW_WATCH)
 * stays `pending` while more results may come; any other is the caller's again when this is called, and may be
 * submitted anew from within. */
typedef void uw_complete(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

enum uw_verb {
    UW_ACCEPT, /* multishot: each result is a connected descriptor, non-blocking and close-on-exec; ends with -errno */
    UW_ACCEPT_WAITING, /* one connected descriptor likewise, of a client that waits already, or -EAGAIN; on io_uring
                          before Linux 6.10 -EINVAL. For a listening socket that another loop of the same backend may
                          accept from */
    UW_RECEIVE, /* multishot: each result is a number of bytes, at `data`, which are the callback's only while it runs;
                 * ends with 0 at the end of the stream, or -errno */
    UW_SEND,    /* sends all `length` bytes at `data`, however long it takes: the result is `length` or -errno; never
                   raises SIGPIPE */
    UW_SEND_VECTOR, /* likewise all that the struct msghdr at `data` names; the loop moves its vector on; the result is
                     * the sum */
    UW_SEND_FILE,   /* sends `length` bytes of the regular file `file`, from `offset`; the result is fewer when the file
                     * ends before, or -errno; never raises SIGPIPE. the socket must be
                     * non-blocking */
    UW_READ,        /* at most `length` bytes into `data`, at `offset` of a file, or -1 for the current position and for
                       streams; waits until there is something, on non-blocking descriptors too */
    UW_WRITE,       /* at most `length` bytes from `data`, likewise */
    UW_CONNECT,     /* to the address `data` of `length` bytes: 0 or -errno */
    UW_POLL,  /* waits for the events in `length` (POLLIN, POLLPRI, POLLOUT); the result is those that came, POLLERR and
                  POLLHUP too */
    UW_WATCH, /* multishot, level-triggered: likewise, in every turn in which there are any; ends with -errno, and
                 perhaps after a result on a file that is always ready */
};

struct uw_operation {
    uw_complete *complete;
    void *data; /* the loop never writes through it for UW_SEND, UW_WRITE and UW_CONNECT */
    int64_t offset;
    uint32_t length;
    uint32_t done; /* the loop's: bytes sent so far */
    int32_t fd;
    int32_t result;            /* the loop's */
    struct uw_operation *next; /* the loop's: in a queue of waiting or of completed operations */
    struct uw_list heard;      /* the loop's: among the receives that have brought bytes of late, or alone */
    uint8_t verb;
    bool pending; /* the loop's: submitted and not yet finally completed */
    bool cancelled;
    bool ended;      /* the loop's: its `result` is known, and told in the next turn */
    bool more;       /* of a send: more follows at once, so an incomplete packet may wait for it */
    bool in_parts;   /* of a send: the kernel's TLS, for one, refuses to be asked for all at once (MSG_WAITALL) */
    bool stepwise;   /* of UW_RECEIVE and UW_ACCEPT: no more is received, and nobody accepted, before a result has been
                      * dealt with, so that one who cancels within the callback gets nothing more; counts from the next
                      * submission or result on. The readiness backends always do so */
    bool socket;     /* of UW_READ and UW_WRITE: `fd` is known to be one, which is waited for at less cost */
    bool pollable;   /* of UW_READ and UW_WRITE: a try without waiting has answered EAGAIN; so the kernel can wait for
                      * `fd` itself, and there is no use in trying again */
    bool polling;    /* the loop's: the kernel waits until `fd` is ready */
    uint8_t pauses;  /* the loop's: so often in a row the kernel told nothing by that */
    bool cancelling; /* the loop's: the kernel has not yet told how it was cancelled */
    bool silent;     /* the loop's: of one that was heard, since the last look at it */
    int32_t file;    /* of UW_SEND_FILE */
};

/* A message to a loop from another thread; lives in its owner until `receive` is called on the loop's thread. */
struct uw_message {
    struct uw_message *next;
    void (*receive)(struct uw_loop *loop, struct uw_message *message);
};

typedef void uw_expire(struct uw_loop *loop, struct uw_timer *timer);

struct uw_loop {
    const struct uw_backend *backend;
    void *backend_state;
    uint64_t owner; /* the thread that opened it; the kernel may serve no other */
    int64_t now_ns; /* when this turn's waiting ended */
    struct uw_timers timers;
    struct uw_list due; /* timers that were so when this turn began */
    uw_expire *expire;  /* called for every timer that is due and has no function of its own */

    struct uw_operation *completed, **completed_tail; /* results found while submitting, delivered in the next turn */

    struct uw_wakeup wakeup;
    struct uw_operation wake_poll;
    atomic_bool waiting; /* in, or about to be in, the kernel: a post has to wake it */
    _Atomic(struct uw_message *) posted;
    _Atomic(struct uw_message *) joining; /* uw_loop_line_up's, on their way to the line */
    struct uw_message *line, **line_tail; /* the loop's: in their order */

    uint64_t turns, submitted, wakes; /* counted, never reset */
    _Atomic uint64_t wake_calls;      /* so are these, of uw_loop_wake: a wake may come in a later wait */
    size_t pending;                   /* operations of the callers not yet finally completed */

    bool turning;                         /* within uw_loop_turn */
    bool overdue;                         /* when this turn began, a timer was due that is not harmless */
    bool sigpipe_blocked, sigpipe_raised; /* in the thread, for sending files: see send.c */

    /* When a turn received from several streams, the next wait is for as many, up to this number and for at most
     * UW_GATHER_NS: each waking costs both sides time. For an owner who has nothing else to do meanwhile. 0: never. */
    unsigned gather_max;

    /* What a user of the loop keeps for all that he does on it, and how it is freed with the loop; or NULL. */
    void *guest;
    void (*free_guest)(void *guest);
};

#define UW_GATHER_NS (100 * UW_NS_PER_US)

/* Opens a loop on the backend of that name, or with NULL on the first of uw_backends that works here. `expire` is
 * called for every timer that is due and has none of its own; without such timers it may be NULL. Returns 0; -ENOENT
 * for a name that is not compiled in; or the -errno with which the backend cannot be used. */
int uw_loop_open(struct uw_loop *loop, const char *backend, uw_expire *expire);

/* The operations that are submitted and have not ended, but for the loop's own. */
static inline size_t uw_loop_operations(const struct uw_loop *loop)
{
    return loop->pending - loop->wake_poll.pending;
}

/* Ends every pending operation without calling it back, and frees what the loop holds. What is left of the loop belongs
 * to the caller. */
void uw_loop_close(struct uw_loop *loop);

/* One turn: submits what was asked for, waits at most `wait_ns` for something to happen, delivers completions, messages
 * and expired timers. What came in time comes before the timer, unless that is harmless: however late the turn,
 * results that were there before it began are told first. Returns 0, or the -errno of a wait that failed (a signal is
 * no failure). */
int uw_loop_turn(struct uw_loop *loop, int64_t wait_ns);

/* Whether submitted operations go to the kernel together, in the next turn, rather than each at once. */
bool uw_loop_queues(const struct uw_loop *loop);

/* Hands what was submitted and cancelled to the kernel now rather than in the next turn: for a caller about to compute
 * for long, or so that what is cancelled reads no more. */
void uw_loop_flush(struct uw_loop *loop);

/* To be called before a descriptor is closed whose operations were cancelled and are pending still: without it, they
 * may be carried out on the next file of that number. */
void uw_loop_settle(struct uw_loop *loop);

/* Makes a wait in progress, or the next one, return. Any thread; safe in a signal handler. */
void uw_loop_wake(struct uw_loop *loop);

/* Has `message` received on the loop's thread, in the order of posting by each thread. Any thread. */
void uw_loop_post(struct uw_loop *loop, struct uw_message *message);

/* The same for messages of which a great many may come: they stand in a line of their own, in the order in which each
 * thread posts them there, and are received for about UW_LINE_NS a turn, so that all else goes on meanwhile. */
void uw_loop_line_up(struct uw_loop *loop, struct uw_message *message);

#define UW_LINE_NS (2 * UW_NS_PER_MS)

/* Receives all that was posted and has not arrived: for the last time, when there are no more turns. Also of a loop
 * that is closed. */
void uw_loop_receive(struct uw_loop *loop);

/* Starts `operation`, which must stay in place until it is no longer pending. Failures too are told by completion,
 * never from within this call. */
void uw_submit(struct uw_loop *loop, struct uw_operation *operation);

/* Asks for the end of a pending operation: it completes with -ECANCELED, or with its true result if that came first. */
void uw_cancel(struct uw_loop *loop, struct uw_operation *operation);

/* Closes a descriptor. What is still pending on it may end with -ECANCELED, or wait until it is cancelled. Returns 0 or
 * -errno. */
int uw_close(struct uw_loop *loop, int fd);

/* A timer of this loop; `deadline_ns` is on uw_clock_ns's scale. See base/timers.h. */
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
