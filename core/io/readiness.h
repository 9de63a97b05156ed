/* Implements operations for backends that only report readiness: try the call, wait on EAGAIN, and try again when the
 * descriptor is ready. */
#ifndef UW_IO_READINESS_H
#define UW_IO_READINESS_H

#include "io/backend.h"

/* The operations that wait on one descriptor. The registration keeps its `interest` while that is right. While only
 * operations with one result wait, the registration is one-shot. */
struct uw_descriptor {
    struct uw_operation *readers, *writers;
    uint16_t interest; /* events registered with the kernel, and UW_ONCE; UW_ONCE alone: registered, reports nothing */
};

#define UW_ACCEPTS_PER_TURN 64 /* a limit, so that other operations get their turn */

/* A readiness backend's state contains this part. */
struct uw_readiness {
    struct uw_descriptor *descriptors; /* indexed by number */
    int descriptors_size;
    char scratch[UW_RECEIVE_BYTES_MAX];
};

/* uw_backend.open and .close of readiness backends call these. `state` belongs to the backend and becomes
 * loop->backend_state. */
void uw_readiness_open(struct uw_loop *loop, struct uw_readiness *state);
void uw_readiness_close(struct uw_readiness *state);

/* The table of a readiness backend names these functions. */
void uw_readiness_submit(struct uw_loop *loop, struct uw_operation *operation);
void uw_readiness_cancel(struct uw_loop *loop, struct uw_operation *operation);
void uw_readiness_forget(struct uw_loop *loop, int fd);

/* The backend's wait calls this: `events` (POLLIN, POLLOUT, POLLERR, POLLHUP, POLLNVAL) occurred on `fd`. */
void uw_ready(struct uw_loop *loop, int fd, unsigned events);

/* Returns the millisecond argument of poll(2) and epoll_wait(2), or -1 for UW_FOREVER. The value is rounded up: rounded
 * down, a wait shorter than a millisecond would spin. */
int uw_wait_ms(int64_t wait_ns);

#endif
