/* I/O completion ports: Windows. A call of the kernel stands for each operation of a socket: AcceptEx, ConnectEx,
 * WSASend and TransmitFile do what they are asked for; what is to be received is waited for by a WSARecv for nothing,
 * so that who waits needs no buffer, and who cancels loses no byte. Polls are the socket driver's, as is all that waits
 * for a socket which another loop's port has. */
#ifdef UW_HAVE_IOCP

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/accept.h"
#include "io/backend.h"
#include "io/readiness.h"
#include "io/send.h"
#include "windows/files.h"
#include "windows/overlapped.h"
#include "windows/sockets.h"

#define ENTRIES_PER_WAIT 256
#define SPARES_MAX 1024 /* requests kept for the next operations */
#define SEND_FILE_BYTES 16384
#define LAST_WAIT_MS 10000 /* for what was cancelled as the loop closes; it ends sooner, when all has come back */

enum way {
    BY_POLL,    /* the operation is tried when the driver has told of an event */
    BY_RECEIVE, /* it is tried when there is something to receive */
    BY_CALL,    /* the call's result is that of the operation */
    BY_LOOK,    /* nothing: of a watch that was told of an event the next turn sees whether there is another */
};

/* What the kernel has of an operation. */
struct request {
    struct uw_call call;
    struct uw_list link;      /* in flight, to be looked at, or spare */
    struct uw_list operation; /* in a ring with its `heard` */
    struct uw_object *object;
    struct uw_object *file; /* of UW_SEND_FILE, or NULL */
    enum way way;
    bool misses; /* AcceptEx has failed: for once the driver is asked */
};

struct iocp {
    struct uw_port port;
    struct uw_list in_flight, to_look_at, spares;
    int spare_count;
    char scratch[UW_RECEIVE_BYTES_MAX];
};

static struct iocp *state_of(struct uw_loop *loop)
{
    return loop->backend_state;
}

static int iocp_open(struct uw_loop *loop)
{
    struct iocp *state = malloc(sizeof *state);
    int error = state ? uw_port_open(&state->port) : -ENOMEM;

    if (error) {
        free(state);
        return error;
    }
    uw_list_init(&state->in_flight);
    uw_list_init(&state->to_look_at);
    uw_list_init(&state->spares);
    state->spare_count = 0;
    loop->backend_state = state;
    return 0;
}

static bool is_multishot(const struct uw_operation *operation)
{
    return operation->verb == UW_ACCEPT || operation->verb == UW_RECEIVE || operation->verb == UW_WATCH;
}

static bool is_poll(const struct uw_operation *operation)
{
    return operation->verb == UW_POLL || operation->verb == UW_WATCH;
}

static bool sends(const struct uw_operation *operation)
{
    return operation->verb == UW_SEND || operation->verb == UW_SEND_VECTOR || operation->verb == UW_WRITE ||
           operation->verb == UW_SEND_FILE;
}

/* Requests. */

/* Holds the object, and the file. NULL when memory is exhausted. */
static struct request *take_request(struct iocp *state, struct uw_object *object, struct uw_object *file)
{
    struct request *request;

    if (uw_list_empty(&state->spares)) {
        request = malloc(sizeof *request);
        if (!request)
            return NULL;
    } else {
        request = uw_owner(state->spares.next, struct request, link);
        uw_list_remove(&request->link);
        state->spare_count--;
    }
    uw_object_hold(object);
    request->object = object;
    request->file = file;
    request->misses = false;
    uw_list_init(&request->link);
    uw_list_init(&request->operation);
    return request;
}

static void give_request(struct iocp *state, struct request *request)
{
    uw_list_remove(&request->link);
    uw_list_remove(&request->operation);
    uw_object_release(request->object);
    if (request->file)
        uw_object_release(request->file);
    if (state->spare_count == SPARES_MAX) {
        free(request);
    } else {
        uw_list_append(&state->spares, &request->link);
        state->spare_count++;
    }
}

/* NULL: it was cancelled. */
static struct uw_operation *operation_of(const struct request *request)
{
    return uw_list_empty(&request->operation) ? NULL : uw_owner(request->operation.next, struct uw_operation, heard);
}

static struct request *request_of(const struct uw_operation *operation)
{
    return uw_list_empty(&operation->heard) ? NULL : uw_owner(operation->heard.next, struct request, operation);
}

/* Where the call uses nothing of the operation's it has ended at once, and its request comes back for itself. */
static void iocp_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct request *request = request_of(operation);

    if (!request) /* its result is on its way */
        return;
    if (request->way != BY_LOOK)
        uw_overlapped_cancel(&state_of(loop)->port, request->object, &request->call, request->way == BY_POLL);
    if (request->way == BY_CALL)
        return;
    uw_list_remove(&operation->heard);
    if (request->way == BY_LOOK)
        give_request(state_of(loop), request);
    uw_complete_later(loop, operation, -ECANCELED);
}

/* Trying: counts, or -errno; -EAGAIN when it has to wait. */

static struct iovec rest_of(const struct uw_operation *operation)
{
    return (struct iovec){(char *)operation->data + operation->done, operation->length - operation->done};
}

/* Notes what was sent. Returns the final result, or -EAGAIN: there is more. */
static int64_t note_sent(struct uw_operation *operation, int64_t count)
{
    if (count < 0)
        return count;
    if (operation->verb == UW_WRITE)
        return count;
    if (operation->verb == UW_SEND_VECTOR)
        return uw_send_vector_advance(operation, (size_t)count) ? -EAGAIN : (int64_t)operation->done;
    operation->done += (uint32_t)count;
    return operation->done < operation->length && (count > 0 || operation->verb == UW_SEND) ? -EAGAIN
                                                                                            : (int64_t)operation->done;
}

static int64_t send_some(struct uw_object *object, struct uw_operation *operation)
{
    const struct msghdr *message = operation->data;
    struct iovec rest;

    if (operation->verb == UW_SEND_VECTOR)
        return uw_socket_send(object, message->msg_iov, message->msg_iovlen);
    rest = rest_of(operation);
    return uw_socket_send(object, &rest, 1);
}

static int64_t try_to_send(struct uw_object *object, struct uw_operation *operation)
{
    int64_t count, result;

    do {
        count = send_some(object, operation);
        result = note_sent(operation, count);
    } while (result == -EAGAIN && count >= 0);
    return result;
}

/* Through memory of ours: where a socket is another port's. */
static int64_t try_to_send_file(struct uw_object *object, struct uw_object *file, struct uw_operation *operation)
{
    char bytes[SEND_FILE_BYTES];
    size_t left = operation->length - operation->done;
    int64_t count =
        uw_file_read(file, bytes, left < sizeof bytes ? left : sizeof bytes, operation->offset + operation->done);

    if (count > 0)
        count = uw_socket_send(object, &(struct iovec){bytes, (size_t)count}, 1);
    return note_sent(operation, count);
}

static int64_t try_to_poll(struct uw_object *object, const struct uw_operation *operation)
{
    int told = uw_object_poll(object, (int)operation->length, 0);

    if (told & POLLNVAL)
        return -EBADF;
    return told ? told : -EAGAIN;
}

static int64_t try_once(struct uw_object *object, struct uw_object *file, struct uw_operation *operation)
{
    switch (operation->verb) {
    case UW_SEND:
    case UW_SEND_VECTOR:
    case UW_WRITE:
        return try_to_send(object, operation);
    case UW_SEND_FILE:
        return try_to_send_file(object, file, operation);
    case UW_READ:
        return uw_socket_receive(object, operation->data, operation->length);
    case UW_CONNECT:
        return uw_socket_connected(object);
    case UW_POLL:
    case UW_WATCH:
        return try_to_poll(object, operation);
    default:
        return -EINVAL;
    }
}

/* Starting. */

static int poll_for(struct iocp *state, struct request *request, int events)
{
    request->way = BY_POLL;
    return uw_overlapped_poll(&state->port, request->object, &request->call, events);
}

static int events_of(const struct uw_operation *operation)
{
    if (is_poll(operation))
        return (int)operation->length;
    return sends(operation) || operation->verb == UW_CONNECT ? POLLOUT : POLLIN;
}

static int start_connecting(struct iocp *state, struct request *request, const struct uw_operation *operation)
{
    int error = uw_socket_connect(request->object, operation->data, (int)operation->length);

    return error == -EAGAIN || error == 0 ? poll_for(state, request, POLLOUT) : error;
}

static int start_sending(struct request *request, const struct uw_operation *operation)
{
    const struct msghdr *message = operation->data;
    struct iovec rest;

    request->way = BY_CALL;
    if (operation->verb == UW_SEND_VECTOR)
        return uw_overlapped_send(request->object, &request->call, message->msg_iov, message->msg_iovlen);
    rest = rest_of(operation);
    return uw_overlapped_send(request->object, &request->call, &rest, 1);
}

/* A file may be shorter than it is thought to be: to ask for more is an error, and to ask for nothing is to ask for all
 * of it. */
static int start_sending_file(struct request *request, const struct uw_operation *operation)
{
    int64_t from = operation->offset + operation->done, left = uw_file_size(request->file) - from;
    uint32_t length = operation->length - operation->done;

    request->way = BY_CALL;
    if (left < length)
        length = left > 0 ? (uint32_t)left : 1;
    if (length > UW_SEND_FILE_BYTES_PER_TRY)
        length = UW_SEND_FILE_BYTES_PER_TRY;
    return uw_overlapped_send_file(request->object, &request->call, request->file, from, length);
}

/* Where the socket is of this loop's port. */
static int start_call(struct iocp *state, struct request *request, const struct uw_operation *operation)
{
    request->way = BY_CALL;
    switch (operation->verb) {
    case UW_ACCEPT:
        return uw_overlapped_accept(request->object, &request->call);
    case UW_CONNECT:
        return uw_overlapped_connect(request->object, &request->call, operation->data, (int)operation->length);
    case UW_RECEIVE:
    case UW_READ:
        request->way = BY_RECEIVE;
        return uw_overlapped_receive(request->object, &request->call);
    case UW_SEND:
    case UW_SEND_VECTOR:
        return start_sending(request, operation);
    case UW_SEND_FILE:
        return start_sending_file(request, operation);
    default: /* UW_WRITE among them: the kernel would have all of it sent */
        return poll_for(state, request, events_of(operation));
    }
}

/* Whether what a call fails of at once is no error: Windows has too many calls of the socket already, or there is no
 * number for a client; a client has gone; a file has ended. */
static bool needs_a_try(const struct uw_operation *operation, int error)
{
    return error == EAGAIN || (operation->verb == UW_ACCEPT && uw_accept_missed_one(error)) ||
           (operation->verb == UW_SEND_FILE && error == ENODATA);
}

/* Returns 0 or -errno. */
static int start_waiting(struct iocp *state, struct request *request, struct uw_operation *operation)
{
    bool misses = request->misses;
    int error;

    request->misses = false;
    request->call.overlapped = (OVERLAPPED){0};
    if (uw_port_takes(&state->port, request->object) && !misses)
        error = start_call(state, request, operation);
    else if (operation->verb == UW_CONNECT)
        error = start_connecting(state, request, operation);
    else
        error = poll_for(state, request, events_of(operation));
    if (needs_a_try(operation, -error)) {
        request->call.overlapped = (OVERLAPPED){0};
        error = poll_for(state, request, events_of(operation));
    }
    return error;
}

/* Returns 0 or -errno, and then the request is given back. Other threads may have the socket, too, and close it. */
static int start(struct iocp *state, struct request *request, struct uw_operation *operation)
{
    int error = -EBADF;

    if (uw_object_enter(request->object)) {
        error = start_waiting(state, request, operation);
        uw_object_leave(request->object);
    }
    if (error) {
        give_request(state, request);
        return error;
    }
    uw_list_append(&state->in_flight, &request->link);
    uw_list_append(&request->operation, &operation->heard);
    return 0;
}

/* Nothing to be sent is nothing to wait for, and to TransmitFile it is the whole file. */
static int64_t file_left(const struct uw_operation *operation, const struct uw_object *file)
{
    int64_t size = uw_file_size(file);

    return size < 0 ? size : operation->length > 0 && size > operation->offset + operation->done;
}

/* What is known at once; or -EAGAIN. */
static int64_t begin(struct uw_object *object, struct uw_object *file, struct uw_operation *operation)
{
    int64_t left;

    if (file) {
        left = file_left(operation, file);
        return left > 0 ? -EAGAIN : left;
    }
    if (is_multishot(operation) || operation->verb == UW_CONNECT || operation->verb == UW_SEND_FILE ||
        (operation->verb == UW_READ && operation->pollable))
        return -EAGAIN;
    return try_once(object, NULL, operation);
}

static int64_t do_at_once(struct uw_object *object, const struct uw_operation *operation)
{
    switch (operation->verb) {
    case UW_READ:
        return uw_file_read(object, operation->data, operation->length, operation->offset);
    case UW_WRITE:
        return uw_file_write(object, operation->data, operation->length, operation->offset);
    case UW_POLL:
    case UW_WATCH:
        return uw_object_poll(object, (int)operation->length, 0);
    default:
        return -ENOTSOCK;
    }
}

/* Returns its result; or -EAGAIN: it waits. */
static int64_t submit_to_socket(struct uw_loop *loop, struct uw_object *object, struct uw_operation *operation)
{
    struct uw_object *file = operation->verb == UW_SEND_FILE ? uw_number_hold(operation->file) : NULL;
    struct request *request;
    int64_t result = operation->verb == UW_SEND_FILE && !file ? -EBADF : begin(object, file, operation);
    int error;

    request = result == -EAGAIN ? take_request(state_of(loop), object, file) : NULL;
    if (!request) {
        if (file)
            uw_object_release(file);
        return result == -EAGAIN ? -ENOMEM : result;
    }
    error = start(state_of(loop), request, operation);
    return error ? error : -EAGAIN;
}

static void iocp_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_object *object = uw_number_hold(operation->fd);
    int64_t result;

    if (!object) {
        uw_complete_later(loop, operation, -EBADF);
        return;
    }
    if (operation->verb == UW_ACCEPT || operation->verb == UW_ACCEPT_WAITING)
        atomic_store(&object->nonblocking, true);
    if (operation->verb == UW_ACCEPT_WAITING)
        uw_complete_later(loop, operation, uw_socket_accept(object));
    else if (!uw_object_is_socket(object))
        uw_complete_later(loop, operation, (int32_t)do_at_once(object, operation));
    else if ((result = submit_to_socket(loop, object, operation)) != -EAGAIN)
        uw_complete_later(loop, operation, (int32_t)result);
    uw_object_release(object);
}

/* Completing. */

/* A callback may have ended it, or closed its descriptor. */
static bool goes_on(const struct uw_operation *operation)
{
    return operation->pending && !operation->cancelled && !operation->ended;
}

/* Has the kernel wait again for an operation whose request has come back. */
static void go_on(struct uw_loop *loop, struct request *request, struct uw_operation *operation)
{
    int error = operation->cancelled ? -ECANCELED : 0;

    if (!error && !atomic_load(&request->object->closed)) {
        uw_list_remove(&request->link);
        error = start(state_of(loop), request, operation);
    } else {
        give_request(state_of(loop), request);
        error = -ECANCELED;
    }
    if (error)
        uw_complete_later(loop, operation, error);
}

static void end(struct uw_loop *loop, struct request *request, struct uw_operation *operation, int64_t result)
{
    give_request(state_of(loop), request);
    uw_finish(loop, operation, (int32_t)result);
}

/* Those who wait behind the one that came; a client may have gone meanwhile. Returns 0 or -errno. */
static int accept_others(struct uw_loop *loop, const struct request *request, struct uw_operation *operation)
{
    for (int i = 0; i < UW_ACCEPTS_PER_TURN && goes_on(operation); i++) {
        int client = atomic_load(&request->object->closed) ? -ECANCELED : uw_socket_accept(request->object);

        if (client >= 0)
            operation->complete(loop, operation, client);
        else if (!uw_accept_missed_one(-client))
            return client == -EAGAIN ? 0 : client;
    }
    return 0;
}

/* What AcceptEx fails of may be the fault of a client, who has gone, or the socket's: accept tells which. Then the
 * driver has to tell of the next client, so that nothing fails again and again without a pause. Returns the client's
 * number, or -errno; -EAGAIN: nobody came. */
static int accepted_by_call(struct request *request, int64_t result)
{
    request->misses = result < 0;
    if (!request->misses)
        return uw_overlapped_accepted(request->object, &request->call);
    uw_overlapped_let_go(&request->call);
    return result == -ECANCELED ? -ECANCELED : -EAGAIN;
}

/* Who came by the call, and those behind him. Returns 0 or -errno. */
static int accept_some(struct uw_loop *loop, struct request *request, struct uw_operation *operation, int64_t result)
{
    if (request->way == BY_CALL) {
        int client = accepted_by_call(request, result);

        if (client >= 0)
            operation->complete(loop, operation, client);
        else if (client != -EAGAIN)
            return client;
    } else if (result < 0) {
        return (int)result;
    }
    return accept_others(loop, request, operation);
}

static void accepted(struct uw_loop *loop, struct request *request, struct uw_operation *operation, int64_t result)
{
    int error = accept_some(loop, request, operation, result);

    if (error && !operation->ended)
        end(loop, request, operation, error);
    else
        go_on(loop, request, operation);
}

static void receive(struct uw_loop *loop, struct request *request, struct uw_operation *operation)
{
    struct iocp *state = state_of(loop);
    int64_t count = uw_socket_receive(request->object, state->scratch, sizeof state->scratch);

    if (count > 0) {
        operation->data = state->scratch;
        operation->complete(loop, operation, (int32_t)count);
    } else if (count != -EAGAIN) {
        end(loop, request, operation, count);
        return;
    }
    go_on(loop, request, operation);
}

/* Tells what there is, and has it looked at again in the next turn: to ask the driver for what is there already would
 * bring what is true no more by then. */
static void watch(struct uw_loop *loop, struct request *request, struct uw_operation *operation)
{
    int64_t result = try_to_poll(request->object, operation);

    if (result < 0 && result != -EAGAIN) {
        end(loop, request, operation, result);
        return;
    }
    if (result > 0)
        operation->complete(loop, operation, (int32_t)result);
    if (result <= 0 || !goes_on(operation)) {
        go_on(loop, request, operation);
        return;
    }
    request->way = BY_LOOK;
    uw_list_remove(&request->link);
    uw_list_append(&state_of(loop)->to_look_at, &request->link);
    uw_list_append(&request->operation, &operation->heard);
}

/* Of a watch there is nothing any more: the driver is asked to tell. */
static void ask_for(struct uw_loop *loop, struct request *request)
{
    struct uw_operation *operation = operation_of(request);

    uw_list_remove(&request->operation);
    go_on(loop, request, operation);
}

/* Returns whether there is something to tell at once. */
static bool look_at_watches(struct uw_loop *loop)
{
    struct iocp *state = state_of(loop);
    struct uw_list *link = state->to_look_at.next;

    while (link != &state->to_look_at) {
        struct request *request = uw_owner(link, struct request, link);

        link = link->next;
        if (try_to_poll(request->object, operation_of(request)) == -EAGAIN)
            ask_for(loop, request);
    }
    return !uw_list_empty(&state->to_look_at);
}

/* A callback may end others, which leave the list. */
static void tell_watches(struct uw_loop *loop)
{
    struct uw_list looked_at;

    uw_list_init(&looked_at);
    uw_list_move(&looked_at, &state_of(loop)->to_look_at);
    while (!uw_list_empty(&looked_at)) {
        struct request *request = uw_owner(looked_at.next, struct request, link);
        struct uw_operation *operation = operation_of(request);

        uw_list_remove(&request->link);
        uw_list_remove(&request->operation);
        watch(loop, request, operation);
    }
}

/* What the call gave is the operation's, or a part of it. */
static int64_t result_of_call(struct request *request, struct uw_operation *operation, int64_t result)
{
    if (operation->verb == UW_CONNECT) {
        uw_overlapped_connected(request->object);
        return 0;
    }
    result = note_sent(operation, result);
    return result == -EAGAIN && operation->verb == UW_SEND_FILE && file_left(operation, request->file) == 0
               ? (int64_t)operation->done
               : result;
}

static void single(struct uw_loop *loop, struct request *request, struct uw_operation *operation, int64_t result)
{
    if (request->way == BY_CALL)
        result = result_of_call(request, operation, result);
    else
        result = try_once(request->object, request->file, operation);
    if (result == -EAGAIN)
        go_on(loop, request, operation);
    else
        end(loop, request, operation, result);
}

/* As POSIX has the errors of a call, where the end of a file is none. */
static int64_t as_posix(const struct request *request, const struct uw_operation *operation, int64_t result)
{
    if (sends(operation) && result < 0 && request->way == BY_CALL)
        return result == -ENODATA ? 0 : -uw_errno_of_sending((int)-result);
    return result == -ECONNABORTED && request->way == BY_RECEIVE ? -ECONNRESET : result;
}

static void complete(struct uw_loop *loop, struct request *request)
{
    struct uw_operation *operation = operation_of(request);
    int64_t result = uw_overlapped_result(request->object, &request->call, request->way == BY_POLL);

    if (!operation) {
        give_request(state_of(loop), request);
        return;
    }
    uw_list_remove(&request->operation);
    if (atomic_load(&request->object->closed) && (result < 0 || operation->verb != UW_ACCEPT))
        result = -ECANCELED; /* its handle may be another's; who was accepted has come all the same */
    else if (result < 0)
        result = operation->cancelled ? -ECANCELED : as_posix(request, operation, result);
    if (operation->verb == UW_ACCEPT)
        accepted(loop, request, operation, result);
    else if (result < 0)
        end(loop, request, operation, result);
    else if (operation->verb == UW_RECEIVE)
        receive(loop, request, operation);
    else if (operation->verb == UW_WATCH)
        watch(loop, request, operation);
    else
        single(loop, request, operation, result);
}

static int iocp_wait(struct uw_loop *loop, int64_t wait_ns)
{
    OVERLAPPED_ENTRY entries[ENTRIES_PER_WAIT];
    bool ready = look_at_watches(loop);
    int wait_ms = ready || loop->completed ? 0 : uw_wait_ms(wait_ns);
    ULONG count = 0;
    BOOL some = GetQueuedCompletionStatusEx(state_of(loop)->port.port, entries, ENTRIES_PER_WAIT, &count,
                                            wait_ms < 0 ? INFINITE : (DWORD)wait_ms, FALSE);
    bool failed = !some && GetLastError() != WAIT_TIMEOUT;

    loop->now_ns = uw_clock_ns();
    if (failed)
        return -EINVAL;
    if (ready)
        tell_watches(loop);
    if (!some)
        return ready ? UW_TOLD_ALL : UW_TOLD_NOTHING;
    for (ULONG i = 0; i < count; i++)
        if (entries[i].lpOverlapped)
            complete(loop, (struct request *)entries[i].lpOverlapped);
        else
            loop->wakes++;
    return count < ENTRIES_PER_WAIT ? UW_TOLD_ALL : UW_TOLD_SOME;
}

static void iocp_wake(struct uw_loop *loop)
{
    uw_port_wake(&state_of(loop)->port);
}

/* Closing. */

static void cancel_all(struct iocp *state)
{
    for (struct uw_list *link = state->in_flight.next; link != &state->in_flight; link = link->next) {
        struct request *request = uw_owner(link, struct request, link);

        uw_overlapped_cancel(&state->port, request->object, &request->call, request->way == BY_POLL);
    }
}

static void let_go(struct iocp *state, struct request *request)
{
    const struct uw_operation *operation = operation_of(request);

    (void)uw_overlapped_result(request->object, &request->call, request->way == BY_POLL);
    if (operation && operation->verb == UW_ACCEPT && request->way == BY_CALL)
        uw_overlapped_let_go(&request->call);
    give_request(state, request);
}

/* What does not come back is the kernel's for ever: its memory must not be used again. */
static void iocp_close(struct uw_loop *loop)
{
    struct iocp *state = state_of(loop);
    OVERLAPPED_ENTRY entry;
    ULONG count;

    cancel_all(state);
    while (!uw_list_empty(&state->to_look_at))
        give_request(state, uw_owner(state->to_look_at.next, struct request, link));
    while (!uw_list_empty(&state->in_flight) &&
           GetQueuedCompletionStatusEx(state->port.port, &entry, 1, &count, LAST_WAIT_MS, FALSE))
        if (entry.lpOverlapped) /* else a call of iocp_wake */
            let_go(state, (struct request *)entry.lpOverlapped);
    while (!uw_list_empty(&state->spares)) {
        struct request *request = uw_owner(state->spares.next, struct request, link);

        uw_list_remove(&request->link);
        free(request);
    }
    uw_port_close(&state->port);
    free(state);
}

const struct uw_backend uw_backend_iocp = {
    .name = "iocp",
    .open = iocp_open,
    .close = iocp_close,
    .submit = iocp_submit,
    .cancel = iocp_cancel,
    .wake = iocp_wake,
    .wait = iocp_wait,
};

#else
typedef int uw_backend_iocp_is_left_out; /* ISO C wants a declaration */
#endif
