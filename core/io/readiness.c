#include "io/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/accept_errors.h"
#include "io/nonblocking.h"
#include "io/sendfile.h"

#define DESCRIPTORS_MIN 64

static struct uw_readiness *state_of(struct uw_loop *loop)
{
    return loop->backend_state;
}

void uw_readiness_open(struct uw_loop *loop, struct uw_readiness *state)
{
    state->descriptors = NULL;
    state->descriptors_size = 0;
    loop->backend_state = state;
}

void uw_readiness_close(struct uw_readiness *state)
{
    free(state->descriptors);
}

/* Returns the record of `fd`; the table grows if needed. Returns NULL when memory is exhausted. */
static struct uw_descriptor *descriptor_of(struct uw_readiness *state, int fd)
{
    if (fd >= state->descriptors_size) {
        int size = state->descriptors_size ? state->descriptors_size : DESCRIPTORS_MIN;
        struct uw_descriptor *grown;

        while (size <= fd)
            size *= 2;
        grown = realloc(state->descriptors, (size_t)size * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + state->descriptors_size, 0, (size_t)(size - state->descriptors_size) * sizeof *grown);
        state->descriptors = grown;
        state->descriptors_size = size;
    }
    return &state->descriptors[fd];
}

static bool reads(const struct uw_operation *operation)
{
    switch (operation->opcode) {
    case UW_SEND:
    case UW_SEND_VECTOR:
    case UW_SEND_FILE:
    case UW_WRITE:
    case UW_CONNECT:
        return false;
    case UW_POLL:
    case UW_WATCH:
        return operation->length & (POLLIN | POLLPRI);
    default:
        return true;
    }
}

static bool polls(const struct uw_operation *operation)
{
    return operation->opcode == UW_POLL || operation->opcode == UW_WATCH;
}

static bool multishot(const struct uw_operation *operation)
{
    return operation->opcode == UW_ACCEPT || operation->opcode == UW_RECEIVE || operation->opcode == UW_WATCH;
}

static bool any_multishot(const struct uw_operation *list)
{
    while (list && !multishot(list))
        list = list->next;
    return list;
}

/* Returns the events that the waiting operations want, with UW_ONCE if none of them is multishot. */
static unsigned wanted_events(const struct uw_descriptor *descriptor)
{
    unsigned events = descriptor->writers ? POLLOUT : 0;

    for (const struct uw_operation *o = descriptor->readers; o; o = o->next)
        events |= polls(o) ? o->length & (POLLIN | POLLPRI | POLLOUT) : POLLIN;
    if (!any_multishot(descriptor->readers) && !any_multishot(descriptor->writers))
        events |= UW_ONCE;
    return events;
}

static int set_interest(struct uw_loop *loop, struct uw_descriptor *descriptor, int fd, unsigned events)
{
    int error = loop->backend->interest(loop, fd, descriptor->interest, events);

    if (!error)
        descriptor->interest = (uint16_t)(events == UW_ONCE ? descriptor->interest & UW_ONCE : events);
    return error;
}

static void unlink_operation(struct uw_operation **list, struct uw_operation *operation)
{
    while (*list && *list != operation)
        list = &(*list)->next;
    if (*list) {
        *list = operation->next;
        operation->next = NULL;
    }
}

static bool waits(const struct uw_operation *list, const struct uw_operation *operation)
{
    while (list && list != operation)
        list = list->next;
    return list;
}

static int64_t send_rest(struct uw_operation *operation)
{
    while (operation->done < operation->length) {
        ssize_t sent = uw_send_now(operation->fd, (char *)operation->data + operation->done,
                                   operation->length - operation->done, operation->more);
        if (sent < 0)
            return -errno;
        operation->done += (uint32_t)sent;
    }
    return operation->length;
}

static bool nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || flags & O_NONBLOCK; /* an invalid descriptor does not block either */
}

static int64_t send_vector_rest(struct uw_operation *operation)
{
    ssize_t sent;

    do {
        sent = uw_send_vector_now(operation->fd, operation->data, operation->more);
        if (sent < 0)
            return -errno;
    } while (uw_send_vector_advance(operation, (size_t)sent));
    return operation->done;
}

/* A UNIX socket with a full backlog refuses, as on other systems: no event reports free space (io_uring waits). */
static int64_t connect_now(const struct uw_operation *operation)
{
    if (connect(operation->fd, operation->data, operation->length) == 0)
        return 0;
    return errno == EAGAIN ? -ECONNREFUSED : -errno;
}

static int64_t connect_once(struct uw_operation *operation)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (operation->done++ == 0) {
        uw_set_nonblocking(operation->fd);
        return connect_now(operation);
    }
    if (getsockopt(operation->fd, SOL_SOCKET, SO_ERROR, &error, &size))
        return -errno;
    return -error;
}

static bool ready_now(int fd, short events)
{
    struct pollfd item = {.fd = fd, .events = events};

    return poll(&item, 1, 0) != 0;
}

/* A blocking descriptor must not block the loop, so it is read only when it is ready. */
static ssize_t read_stream(const struct uw_operation *operation)
{
    if (nonblocking(operation->fd) || ready_now(operation->fd, POLLIN))
        return read(operation->fd, operation->data, operation->length);
    errno = EAGAIN;
    return -1;
}

static bool cannot_be_tried(ssize_t count)
{
    return count < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL);
}

/* Does the same in one call, but only at the first try: later the number may be another file's, which may not support
 * the call. Any other error counts: a connection reports it once, and a second read would find the end. */
static ssize_t read_pollable(struct uw_operation *operation)
{
    ssize_t count = uw_read_now(operation->fd, operation->data, operation->length, -1);

    operation->pollable = false;
    return cannot_be_tried(count) ? read_stream(operation) : count;
}

static int64_t read_once(struct uw_operation *operation)
{
    ssize_t count;

    if (operation->offset >= 0)
        count = pread(operation->fd, operation->data, operation->length, operation->offset);
    else if (operation->socket)
        count = recv(operation->fd, operation->data, operation->length, MSG_DONTWAIT);
    else if (operation->pollable)
        count = read_pollable(operation);
    else
        count = read_stream(operation);
    return count < 0 ? -errno : count;
}

/* A blocking stream that is ready takes PIPE_BUF bytes without blocking: see `man 7 pipe`. */
static ssize_t write_blocking(const struct uw_operation *operation)
{
    struct stat status;
    size_t length = operation->length;

    if (fstat(operation->fd, &status))
        return -1;
    if (S_ISSOCK(status.st_mode))
        return uw_send_now(operation->fd, operation->data, length, false);
    if (!S_ISREG(status.st_mode) && length > PIPE_BUF)
        length = PIPE_BUF;
    return write(operation->fd, operation->data, length);
}

static int64_t write_once(const struct uw_operation *operation)
{
    ssize_t count;

    if (operation->offset >= 0)
        count = pwrite(operation->fd, operation->data, operation->length, operation->offset);
    else if (operation->socket)
        count = uw_send_now(operation->fd, operation->data, operation->length, false);
    else if (nonblocking(operation->fd))
        count = write(operation->fd, operation->data, operation->length);
    else if (ready_now(operation->fd, POLLOUT))
        count = write_blocking(operation);
    else
        return -EAGAIN;
    return count < 0 ? -errno : count;
}

/* Returns the result of one try, or -EAGAIN when the operation has to wait. */
static int64_t try_once(struct uw_loop *loop, struct uw_operation *operation)
{
    int64_t result;

    switch (operation->opcode) {
    case UW_SEND:
        result = send_rest(operation);
        break;
    case UW_SEND_VECTOR:
        result = send_vector_rest(operation);
        break;
    case UW_SEND_FILE:
        result = uw_send_file_part(loop, operation);
        break;
    case UW_CONNECT:
        result = connect_once(operation);
        break;
    case UW_READ:
        result = read_once(operation);
        break;
    case UW_WRITE:
        result = write_once(operation);
        break;
    default:
        result = -EINVAL;
    }
    return result == -EINPROGRESS || result == -EINTR || result == -EALREADY ? -EAGAIN : result;
}

static int32_t poll_once(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = (short)operation->length};
    int count = poll(&item, 1, 0);

    if (count < 0)
        return -errno;
    return item.revents & POLLNVAL ? -EBADF : item.revents;
}

/* Plain files are always ready, and a backend may refuse them. */
static int32_t answer_of_file(struct uw_loop *loop, struct uw_operation *operation)
{
    operation->pollable = false;
    return polls(operation) ? poll_once(operation) : (int32_t)try_once(loop, operation);
}

/* Returns the result for a descriptor that the backend refuses to watch. */
static int32_t answer_of_refused(struct uw_loop *loop, struct uw_operation *operation, int error)
{
    if (error == -EPERM)
        return answer_of_file(loop, operation);
    return error == -EPIPE && operation->opcode == UW_POLL ? POLLERR : error; /* kqueue: the pipe has no reader */
}

/* Appends `operation` to those that wait for its descriptor. */
static void wait_for(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_descriptor *descriptor = descriptor_of(state_of(loop), operation->fd);
    struct uw_operation **list;
    int error;

    if (!descriptor) {
        uw_complete_later(loop, operation, -ENOMEM);
        return;
    }
    list = reads(operation) ? &descriptor->readers : &descriptor->writers;
    while (*list)
        list = &(*list)->next;
    *list = operation;
    /* The call is needed even if another operation has set the same interest. The descriptor may have been closed
     * without notice, and its number may be another file's. The kernel has then forgotten the registration. */
    error = set_interest(loop, descriptor, operation->fd, wanted_events(descriptor));
    if (error) {
        unlink_operation(reads(operation) ? &descriptor->readers : &descriptor->writers, operation);
        uw_complete_later(loop, operation, answer_of_refused(loop, operation, error));
    }
}

/* The first event of a multishot operation or a poll is as likely to be in the future. A pollable stream was tried
 * already. */
static bool worth_trying(const struct uw_operation *operation)
{
    return !multishot(operation) && !polls(operation) && !(operation->pollable && operation->offset < 0);
}

void uw_readiness_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    int64_t result = -EAGAIN;

    if (operation->opcode == UW_ACCEPT_WAITING) {
        uw_complete_later(loop, operation, uw_accept_now(operation->fd));
        return;
    }
    if (operation->opcode == UW_ACCEPT) /* another process may take the connection first */
        uw_set_nonblocking(operation->fd);
    if (worth_trying(operation))
        result = try_once(loop, operation);
    if (result == -EAGAIN)
        wait_for(loop, operation);
    else
        uw_complete_later(loop, operation, (int32_t)result);
}

void uw_readiness_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_readiness *state = state_of(loop);
    struct uw_descriptor *descriptor;
    struct uw_operation **list;

    if (operation->fd < 0 || operation->fd >= state->descriptors_size)
        return;
    descriptor = &state->descriptors[operation->fd];
    list = reads(operation) ? &descriptor->readers : &descriptor->writers;
    if (!waits(*list, operation))
        return; /* the result is queued already */
    unlink_operation(list, operation);
    /* The owner may close the descriptor now. The kernel then forgets the interest, and so must the record. */
    if (!descriptor->readers && !descriptor->writers) {
        (void)set_interest(loop, descriptor, operation->fd, 0);
        descriptor->interest = 0;
    }
    uw_complete_later(loop, operation, -ECANCELED);
}

/* Ends operations that no event will end any more. */
static void end_later(struct uw_loop *loop, struct uw_operation *list, int32_t result)
{
    while (list) {
        struct uw_operation *next = list->next;

        uw_complete_later(loop, list, result);
        list = next;
    }
}

void uw_readiness_forget(struct uw_loop *loop, int fd)
{
    struct uw_readiness *state = state_of(loop);
    struct uw_descriptor *descriptor;

    if (fd < 0 || fd >= state->descriptors_size)
        return;
    descriptor = &state->descriptors[fd];
    end_later(loop, descriptor->readers, -ECANCELED);
    end_later(loop, descriptor->writers, -ECANCELED);
    /* A failure is harmless: closing the descriptor ends the kernel's interest in any case. */
    if (descriptor->interest)
        (void)set_interest(loop, descriptor, fd, UW_ONCE);
    *descriptor = (struct uw_descriptor){0};
}

/* Ends a waiting operation with `result`. */
static void end(struct uw_loop *loop, struct uw_operation **list, struct uw_operation *operation, int32_t result)
{
    unlink_operation(list, operation);
    uw_finish(loop, operation, result);
}

/* A callback may have ended the operation, or closed the descriptor, whose number may be another file's now. */
static bool still_waits(const struct uw_operation *operation)
{
    return operation && operation->pending && !operation->cancelled && !operation->ended;
}

static void accept_ready(struct uw_loop *loop, struct uw_operation *operation)
{
    int fd = operation->fd, accepts_max = operation->shared ? 1 : UW_ACCEPTS_PER_TURN;

    for (int i = 0; i < accepts_max && still_waits(operation); i++) {
        int accepted = uw_accept(fd);

        if (accepted >= 0) {
            operation->complete(loop, operation, accepted);
        } else if (errno == EAGAIN) {
            return;
        } else if (!uw_accept_missed_one(errno) && errno != EINTR) {
            end(loop, &state_of(loop)->descriptors[fd].readers, operation, -errno);
            return;
        }
    }
}

static void receive_ready(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_readiness *state = state_of(loop);
    ssize_t count = recv(operation->fd, state->scratch, sizeof state->scratch, MSG_DONTWAIT);

    if (count > 0) {
        operation->data = state->scratch;
        operation->complete(loop, operation, (int32_t)count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        end(loop, &state->descriptors[operation->fd].readers, operation, count == 0 ? 0 : -errno);
    }
}

static int64_t poll_result(const struct uw_operation *operation, unsigned events)
{
    unsigned told = events & (operation->length | POLLERR | POLLHUP);

    if (events & POLLNVAL)
        return -EBADF;
    return told ? (int64_t)told : -EAGAIN;
}

static void single_ready(struct uw_loop *loop, struct uw_operation *operation, unsigned events)
{
    struct uw_descriptor *descriptor = &state_of(loop)->descriptors[operation->fd];
    int64_t result = polls(operation) ? poll_result(operation, events) : try_once(loop, operation);

    if (result != -EAGAIN)
        end(loop, reads(operation) ? &descriptor->readers : &descriptor->writers, operation, (int32_t)result);
}

static void watch_ready(struct uw_loop *loop, struct uw_operation *operation, unsigned events)
{
    int64_t result = poll_result(operation, events);

    if (result >= 0)
        operation->complete(loop, operation, (int32_t)result);
    else if (result != -EAGAIN)
        single_ready(loop, operation, events);
}

static void serve(struct uw_loop *loop, struct uw_operation *operation, unsigned events)
{
    if (operation->opcode == UW_ACCEPT)
        accept_ready(loop, operation);
    else if (operation->opcode == UW_RECEIVE)
        receive_ready(loop, operation);
    else if (operation->opcode == UW_WATCH)
        watch_ready(loop, operation, events);
    else
        single_ready(loop, operation, events);
}

/* Every poll sees the event. Of the other operations only the first is served: remaining data keeps the descriptor
 * ready for the next. The loop stops at an operation that no longer waits; the event comes again. */
static void ready_list(struct uw_loop *loop, struct uw_operation *operation, unsigned events)
{
    bool served = false;

    while (still_waits(operation)) {
        struct uw_operation *next = operation->next;

        if (polls(operation) || !served) {
            served = served || !polls(operation);
            serve(loop, operation, events);
        }
        operation = next;
    }
}

/* Keeps the interest of the remaining operations. If that fails, they end, because no event would reach them. */
static void keep_interest(struct uw_loop *loop, struct uw_descriptor *descriptor, int fd, unsigned wanted)
{
    int error = set_interest(loop, descriptor, fd, wanted);

    if (!error)
        return;
    end_later(loop, descriptor->readers, error);
    end_later(loop, descriptor->writers, error);
    *descriptor = (struct uw_descriptor){0};
}

void uw_ready(struct uw_loop *loop, int fd, unsigned events)
{
    struct uw_readiness *state = state_of(loop);
    struct uw_descriptor *descriptor = &state->descriptors[fd];
    struct uw_operation *readers = descriptor->readers, *writers = descriptor->writers;
    unsigned failed = events & (POLLERR | POLLHUP | POLLNVAL), wanted;

    UW_ASSERT_OWNER(loop);
    if (descriptor->interest & UW_ONCE) /* the one event has arrived */
        (void)set_interest(loop, descriptor, fd, UW_ONCE);
    if (events & POLLIN || failed || events & wanted_events(descriptor))
        ready_list(loop, readers, events);
    if (events & POLLOUT || failed)
        ready_list(loop, writers, events);
    descriptor = &state->descriptors[fd]; /* a callback may have grown the table */
    /* An event that no operation waits for would come again and again. */
    wanted = wanted_events(descriptor);
    if (wanted != descriptor->interest && (wanted | descriptor->interest) != UW_ONCE)
        keep_interest(loop, descriptor, fd, wanted);
}

int uw_wait_ms(int64_t wait_ns)
{
    if (wait_ns == UW_FOREVER)
        return -1;
    wait_ns = (wait_ns + UW_NS_PER_MS - 1) / UW_NS_PER_MS;
    return wait_ns < INT32_MAX ? (int)wait_ns : INT32_MAX;
}
