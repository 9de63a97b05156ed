/* Operations for backends that can only say when a descriptor is ready: try the call; on EAGAIN wait; try again when
 * ready. */
#ifndef UW_IO_READINESS_H
#define UW_IO_READINESS_H

#include "io/backend.h"

/* What waits on one descriptor. Registration is stateful: `interest` stays as it is while it is still right. While only
 * operations of one result wait, it is for one event, after which the kernel is silent by itself. */
struct uw_descriptor {
    struct uw_operation *readers, *writers;
    uint16_t interest; /* events registered with the kernel, and UW_ONCE; UW_ONCE alone: known to it, but silent */
};

#define UW_ACCEPTS_PER_TURN 64 /* then others have their turn */

/* The first part of a backend's state. */
struct uw_readiness {
    struct uw_descriptor *descriptors; /* by number */
    int descriptors_size;
    char scratch[UW_RECEIVE_BYTES_MAX];
};

/* For uw_backend.open and .close of readiness backends: `state` is the backend's, which is then loop->backend_state. */
void uw_readiness_open(struct uw_loop *loop, struct uw_readiness *state);
void uw_readiness_close(struct uw_readiness *state);

/* For the table of a readiness backend. */
void uw_readiness_submit(struct uw_loop *loop, struct uw_operation *operation);
void uw_readiness_cancel(struct uw_loop *loop, struct uw_operation *operation);
void uw_readiness_forget(struct uw_loop *loop, int fd);

/* Called by the backend's wait: `events` (POLLIN, POLLOUT, POLLERR, POLLHUP, POLLNVAL) have come for `fd`. */
void uw_ready(struct uw_loop *loop, int fd, unsigned events);

/* The deadline as the millisecond argument of poll(2) and epoll_wait(2), rounded up: rounded down, a wait shorter than
 * a millisecond would spin; -1 for UW_FOREVER. */
int uw_wait_ms(int64_t wait_ns);

#endif
