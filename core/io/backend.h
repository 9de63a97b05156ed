/* The contract between the loop and the kernel's interfaces: one table of functions, one file a backend.
 *
 * A native backend (io_uring) implements `submit` and `cancel` itself. A readiness backend (epoll, kqueue, poll)
 * implements `interest` and reports with uw_ready; readiness.c turns that into operations, and its table names
 * readiness.c's functions for the rest. */
#ifndef UW_IO_BACKEND_H
#define UW_IO_BACKEND_H

#include <errno.h>

#include "io/loop.h"

#define UW_NO_PROCESSOR EUSERS /* the backend needs a second processor, and this process may use one only */
#define UW_ONCE 0x100U         /* beside the events of uw_backend.interest */

/* What a wait has told. */
enum uw_told {
    UW_TOLD_ALL,     /* that had come when it began, if loop->overdue */
    UW_TOLD_SOME,    /* perhaps not all: it was interrupted, or there was too much */
    UW_TOLD_NOTHING, /* for as long as it was to last, there was nothing */
};

struct uw_backend {
    const char *name;

    /* Returns 0; -UW_NO_PROCESSOR; or another -errno. Sets loop->backend_state. */
    int (*open)(struct uw_loop *loop);
    void (*close)(struct uw_loop *loop);

    /* Starts one operation. Results known at once go to uw_complete_later. */
    void (*submit)(struct uw_loop *loop, struct uw_operation *operation);
    void (*cancel)(struct uw_loop *loop, struct uw_operation *operation);

    /* Forgets what is known about a descriptor that is about to be closed; NULL when there is nothing to forget. */
    void (*forget)(struct uw_loop *loop, int fd);

    /* Submits what is queued without waiting; NULL when nothing is ever queued. */
    void (*flush)(struct uw_loop *loop);

    /* Has the kernel act on all that was submitted and cancelled; NULL when it has done so already. */
    void (*settle)(struct uw_loop *loop);

    /* Makes a wait in progress, or the next one, return with nothing to tell. Any thread. NULL: by loop->wakeup, which
     * the loop polls. */
    void (*wake)(struct uw_loop *loop);

    /* Sets loop->now_ns when the wait is over, before anything is delivered: deadlines are counted from it. Waits at
     * most `wait_ns` (UW_FOREVER: without end; 0: not at all) and delivers with uw_finish or uw_ready. Returns an enum
     * uw_told or -errno. */
    int (*wait)(struct uw_loop *loop, int64_t wait_ns);

    /* Readiness backends: changes the events (POLLIN, POLLPRI, POLLOUT) waited for on `fd` from `old` to `new`, which
     * may not be what the kernel knows: the descriptor may have been closed and opened anew. With UW_ONCE they are
     * wanted until the first that comes; UW_ONCE alone means none, after such an event; 0 none at any time. Returns 0
     * or -errno. */
    int (*interest)(struct uw_loop *loop, int fd, unsigned old, unsigned new);
};

/* Every backend compiled in, the preferred first, ended by NULL. What has to be asked for by name is last: poll always
 * works. */
extern const struct uw_backend *const uw_backends[];

/* The names of all that the binding may have, compiled in or not, in the same order, ended by NULL: not iocp, as on
 * Windows there is no binding yet. */
extern const char *const uw_backend_names[];

/* The backend of that name; NULL when it is not compiled in. */
const struct uw_backend *uw_backend_find(const char *name);

/* Whether a loop can really run on `backend` here: 0, or the -errno that its trial gave. */
int uw_backend_probe(const struct uw_backend *backend);

/* Delivers the final result of `operation`. */
void uw_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

/* The same, but in the next turn: for results found while submitting. */
void uw_complete_later(struct uw_loop *loop, struct uw_operation *operation, int32_t result);

#endif
