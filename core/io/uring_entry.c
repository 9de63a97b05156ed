/* Submission entries: finds a free one, and writes an operation into it. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <poll.h>

#define ACCEPT_DONTWAIT (1U << 1) /* IORING_ACCEPT_DONTWAIT, which liburing 2.3 does not name */

/* Submits a full queue to the kernel. A polling thread reads the entries asynchronously. */
static bool make_room(struct uw_uring *ring)
{
    while (!io_uring_sq_space_left(&ring->uring))
        if (io_uring_submit(&ring->uring) < 0 || (uw_uring_polled(ring) && __io_uring_sqring_wait(&ring->uring) < 0))
            return false;
    return true;
}

/* Returns a free submission entry, or NULL. */
struct io_uring_sqe *uw_uring_next_entry(struct uw_uring *ring)
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
    entry->buf_group = UW_URING_RECEIVE_GROUP;
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

void uw_uring_prepare(struct io_uring_sqe *entry, const struct uw_operation *operation)
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
        io_uring_prep_poll_add(entry, operation->fd,
                               operation->length | (uw_uring_is_for_urgent(operation) ? POLLRDBAND : 0));
        break;
    }
}

#endif
