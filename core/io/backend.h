/* The contract between the loop and the kernel's interfaces: one table of functions for each backend.
 *
 * A native backend (io_uring) implements `submit` and `cancel` itself. A readiness backend (epoll, kqueue, poll)
 * implements `interest` and reports with uw_ready; readiness.c turns that into operations, and its table names
 * readiness.c's functions for the rest. */
#ifndef UW_IO_BACKEND_H
#define UW_IO_BACKEND_H

#include <errno.h>

#include "io/loop.h"

#define UW_NO_PROCESSOR EUSERS /* the backend needs a second processor, and this process may use only one */
#define UW_ONCE 0x100U         /* a flag beside the events of uw_backend.interest */

/* The result of a wait. */
enum uw_wait_result {
    UW_WAIT_ALL,     /* all results that existed when the wait began were delivered, if loop->overdue */
    UW_WAIT_SOME,    /* some results may be missing: the wait was interrupted, or there were too many */
    UW_WAIT_NOTHING, /* no result arrived during the whole wait */
};

struct uw_backend {
    const char *name;

    /* Returns NULL, or a sentence that explains why a required library is missing. NULL: the backend needs none. */
    const char *(*missing)(void);

    /* Returns 0, -UW_NO_PROCESSOR, or another -errno. Sets loop->backend_state. */
    int (*open)(struct uw_loop *loop);
    void (*close)(struct uw_loop *loop);

    /* Starts one operation. An immediate result goes to uw_complete_later. */
    void (*submit)(struct uw_loop *loop, struct uw_operation *operation);
    void (*cancel)(struct uw_loop *loop, struct uw_operation *operation);

    /* Drops the state of a descriptor that is about to be closed. NULL: the backend keeps no state. */
    void (*forget)(struct uw_loop *loop, int fd);

    /* Submits the queue without waiting. NULL: the backend queues nothing. */
    void (*flush)(struct uw_loop *loop);

    /* Makes the kernel act on all submissions and cancellations. NULL: the kernel has acted already. */
    void (*settle)(struct uw_loop *loop);

    /* Makes the current or next wait return without a result. Any thread may call this. NULL: the loop polls
     * loop->wakeup. */
    void (*wake)(struct uw_loop *loop);

    /* Waits at most `wait_ns` (UW_FOREVER: without end; 0: not at all) and delivers with uw_finish or uw_ready. Sets
     * loop->now_ns after the wait and before any delivery, because deadlines count from it. Returns an enum
     * uw_wait_result or -errno. */
    int (*wait)(struct uw_loop *loop, int64_t wait_ns);

    /* Readiness backends: changes the awaited events (POLLIN, POLLPRI, POLLOUT) of `fd` from `old` to `new`. The kernel
     * may know other events: the descriptor may have been closed and opened again. With UW_ONCE the interest ends with
     * the first event. UW_ONCE alone means none after such an event; 0 means none at any time. Returns 0 or -errno. */
    int (*interest)(struct uw_loop *loop, int fd, unsigned old, unsigned new);
};

/* Lists all compiled-in backends in order of preference; NULL ends the list. Backends after poll must be requested by
 * name, since poll always works. */
extern const struct uw_backend *const uw_backends[];

/* Names all backends that the binding may have, compiled in or not, in the same order; NULL ends the list. iocp is
 * missing, because the binding does not support Windows yet. */
extern const char *const uw_backend_names[];

/* Returns the backend with this name, or NULL if it is not compiled in. */
const struct uw_backend *uw_backend_find(const char *name);

/* Tests whether a loop can run on `backend` here. Returns 0, or the -errno of the trial. */
int uw_backend_probe(const struct uw_backend *backend);

/* Delivers the final result of `operation`. */
void uw_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* Completes an operation in the next turn, with a result found at submission. */
void uw_complete_later(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

#endif
