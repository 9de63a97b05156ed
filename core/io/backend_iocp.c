/* I/O completion ports on Windows. Each socket operation is a kernel call: AcceptEx, ConnectEx, WSASend and
 * TransmitFile do the operation itself. To receive, the loop waits with a WSARecv of zero bytes: a waiting operation
 * needs no buffer, and a cancellation loses no byte. The socket driver does polls and all waits for a socket that
 * belongs to another loop's port. */
#ifdef UW_HAVE_IOCP

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/accept_errors.h"
#include "io/backend.h"
#include "io/readiness.h"
#include "io/sendfile.h"
#include "windows/files.h"
#include "windows/overlapped.h"
#include "windows/sockets.h"

#define ENTRIES_PER_WAIT 256
#define SPARES_MAX 1024 /* requests that the next operations reuse */
#define SEND_FILE_BYTES 16384
#define LAST_WAIT_MS 10000 /* limit for cancelled requests when the loop closes; the wait ends once all are back */

enum way {
    BY_POLL,    /* the driver reports an event, then the loop tries the operation */
    BY_RECEIVE, /* bytes arrive, then the loop tries the operation */
    BY_CALL,    /* the call's result is the operation's result */
    BY_LOOK,    /* no call: the next turn checks again whether a watch has an event */
};

/* A request is the kernel's part of an operation. */
struct request {
    struct uw_call call;
    struct uw_list link;      /* a link in in_flight, to_look_at or spares */
    struct uw_list operation; /* linked with `eof_watch` of the operation */
    struct uw_object *object;
    struct uw_object *file; /* the file of UW_SEND_FILE, or NULL */
    enum way way;
    bool misses; /* AcceptEx has failed, so the driver is polled once */
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
    return operation->opcode == UW_ACCEPT || operation->opcode == UW_RECEIVE || operation->opcode == UW_WATCH;
}

static bool is_poll(const struct uw_operation *operation)
{
    return operation->opcode == UW_POLL || operation->opcode == UW_WATCH;
}

static bool sends(const struct uw_operation *operation)
{
    return operation->opcode == UW_SEND || operation->opcode == UW_SEND_VECTOR || operation->opcode == UW_WRITE ||
           operation->opcode == UW_SEND_FILE;
}

/* Requests. */

/* Takes references to the object and the file. Returns NULL when memory is exhausted. */
static struct request *take_request(struct iocp *state, struct uw_object *object, struct uw_object *file)
{
    struct request *request;

    if (uw_list_empty(&state->spares)) {
        request = malloc(sizeof *request);
        if (!request)
            return NULL;
    } else {
        request = uw_container_of(state->spares.next, struct request, link);
        uw_list_remove(&request->link);
        state->spare_count--;
    }
    uw_object_retain(object);
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

/* Returns NULL if the operation was cancelled. */
static struct uw_operation *operation_of(const struct request *request)
{
    return uw_list_empty(&request->operation)
               ? NULL
               : uw_container_of(request->operation.next, struct uw_operation, eof_watch);
}

static struct request *request_of(const struct uw_operation *operation)
{
    return uw_list_empty(&operation->eof_watch) ? NULL
                                                : uw_container_of(operation->eof_watch.next, struct request, operation);
}

/* If the call uses no memory of the operation, the operation ends at once. Its request comes back alone. */
static void iocp_cancel(struct uw_loop *loop, struct uw_operation *operation)
{
    struct request *request = request_of(operation);

    if (!request) /* the result is queued already */
        return;
    if (request->way != BY_LOOK)
        uw_overlapped_cancel(&state_of(loop)->port, request->object, &request->call, request->way == BY_POLL);
    if (request->way == BY_CALL)
        return;
    uw_list_remove(&operation->eof_watch);
    if (request->way == BY_LOOK)
        give_request(state_of(loop), request);
    uw_complete_later(loop, operation, -ECANCELED);
}

/* Tries: functions return a count or -errno, and -EAGAIN when the operation has to wait. */

static struct iovec rest_of(const struct uw_operation *operation)
{
    return (struct iovec){(char *)operation->data + operation->done, operation->length - operation->done};
}

/* Counts sent bytes. Returns the final result, or -EAGAIN when bytes remain. */
static int64_t note_sent(struct uw_operation *operation, int64_t count)
{
    if (count < 0)
        return count;
    if (operation->opcode == UW_WRITE)
        return count;
    if (operation->opcode == UW_SEND_VECTOR)
        return uw_send_vector_advance(operation, (size_t)count) ? -EAGAIN : (int64_t)operation->done;
    operation->done += (uint32_t)count;
    return operation->done < operation->length && (count > 0 || operation->opcode == UW_SEND)
               ? -EAGAIN
               : (int64_t)operation->done;
}

static int64_t send_some(struct uw_object *object, struct uw_operation *operation)
{
    const struct msghdr *message = operation->data;
    struct iovec rest;

    if (operation->opcode == UW_SEND_VECTOR)
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

/* Copies through a buffer, for a socket that belongs to another loop's port. */
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
    switch (operation->opcode) {
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
    return sends(operation) || operation->opcode == UW_CONNECT ? POLLOUT : POLLIN;
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
    if (operation->opcode == UW_SEND_VECTOR)
        return uw_overlapped_send(request->object, &request->call, message->msg_iov, message->msg_iovlen);
    rest = rest_of(operation);
    return uw_overlapped_send(request->object, &request->call, &rest, 1);
}

/* A file may be shorter than expected. TransmitFile fails for bytes beyond its end, and takes a length of 0 as the
 * whole file. */
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

/* Starts a call on a socket of this loop's port. */
static int start_call(struct iocp *state, struct request *request, const struct uw_operation *operation)
{
    request->way = BY_CALL;
    switch (operation->opcode) {
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
    default: /* also UW_WRITE: a call would have to send all its bytes */
        return poll_for(state, request, events_of(operation));
    }
}

/* Returns whether an immediate failure is no error. Windows may have too many calls of the socket, or no descriptor for
 * a client. A client may have disconnected, or a file may have ended. */
static bool needs_a_try(const struct uw_operation *operation, int error)
{
    return error == EAGAIN || (operation->opcode == UW_ACCEPT && uw_accept_missed_one(error)) ||
           (operation->opcode == UW_SEND_FILE && error == ENODATA);
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
    else if (operation->opcode == UW_CONNECT)
        error = start_connecting(state, request, operation);
    else
        error = poll_for(state, request, events_of(operation));
    if (needs_a_try(operation, -error)) {
        request->call.overlapped = (OVERLAPPED){0};
        error = poll_for(state, request, events_of(operation));
    }
    return error;
}

/* Returns 0, or -errno after it freed the request. Other threads may share the socket and close it. */
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
    uw_list_append(&request->operation, &operation->eof_watch);
    return 0;
}

/* Returns 1 if bytes of the file remain, 0, or -errno. An empty send needs no wait, and TransmitFile takes it as the
 * whole file. */
static int64_t file_left(const struct uw_operation *operation, const struct uw_object *file)
{
    int64_t size = uw_file_size(file);

    return size < 0 ? size : operation->length > 0 && size > operation->offset + operation->done;
}

/* Returns an immediate result, or -EAGAIN. */
static int64_t begin(struct uw_object *object, struct uw_object *file, struct uw_operation *operation)
{
    int64_t left;

    if (file) {
        left = file_left(operation, file);
        return left > 0 ? -EAGAIN : left;
    }
    if (is_multishot(operation) || operation->opcode == UW_CONNECT || operation->opcode == UW_SEND_FILE ||
        (operation->opcode == UW_READ && operation->pollable))
        return -EAGAIN;
    return try_once(object, NULL, operation);
}

static int64_t do_at_once(struct uw_object *object, const struct uw_operation *operation)
{
    switch (operation->opcode) {
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

/* Returns the result, or -EAGAIN when the operation waits. */
static int64_t submit_to_socket(struct uw_loop *loop, struct uw_object *object, struct uw_operation *operation)
{
    struct uw_object *file = operation->opcode == UW_SEND_FILE ? uw_number_retain(operation->file) : NULL;
    struct request *request;
    int64_t result = operation->opcode == UW_SEND_FILE && !file ? -EBADF : begin(object, file, operation);
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
    struct uw_object *object = uw_number_retain(operation->fd);
    int64_t result;

    if (!object) {
        uw_complete_later(loop, operation, -EBADF);
        return;
    }
    if (operation->opcode == UW_ACCEPT || operation->opcode == UW_ACCEPT_WAITING)
        atomic_store(&object->nonblocking, true);
    if (operation->opcode == UW_ACCEPT_WAITING)
        uw_complete_later(loop, operation, uw_socket_accept(object));
    else if (!uw_object_is_socket(object))
        uw_complete_later(loop, operation, (int32_t)do_at_once(object, operation));
    else if ((result = submit_to_socket(loop, object, operation)) != -EAGAIN)
        uw_complete_later(loop, operation, (int32_t)result);
    uw_object_release(object);
}

/* Completing. */

/* A callback may have ended the operation or closed its descriptor. */
static bool goes_on(const struct uw_operation *operation)
{
    return operation->pending && !operation->cancelled && !operation->ended;
}

/* Makes the kernel wait again for an operation whose request has come back. */
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

/* Accepts the other waiting clients; one may have disconnected meanwhile. Returns 0 or -errno. */
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

/* AcceptEx may fail because of a client that disconnected or because of the socket; accept shows which. The driver then
 * has to report the next client, so that no failure repeats without a pause. Returns the client's descriptor or -errno;
 * -EAGAIN: no client came. */
static int accepted_by_call(struct request *request, int64_t result)
{
    request->misses = result < 0;
    if (!request->misses)
        return uw_overlapped_accepted(request->object, &request->call);
    uw_overlapped_let_go(&request->call);
    return result == -ECANCELED ? -ECANCELED : -EAGAIN;
}

/* Accepts the client of the call and the clients behind it. Returns 0 or -errno. */
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

/* Reports the present events and checks the watch again in the next turn. The driver, if polled for present events,
 * would report them late and perhaps wrongly. */
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
    uw_list_append(&request->operation, &operation->eof_watch);
}

/* A watch without an event waits for the driver again. */
static void ask_for(struct uw_loop *loop, struct request *request)
{
    struct uw_operation *operation = operation_of(request);

    uw_list_remove(&request->operation);
    go_on(loop, request, operation);
}

/* Returns whether a watch has an event now. */
static bool look_at_watches(struct uw_loop *loop)
{
    struct iocp *state = state_of(loop);
    struct uw_list *link = state->to_look_at.next;

    while (link != &state->to_look_at) {
        struct request *request = uw_container_of(link, struct request, link);

        link = link->next;
        if (try_to_poll(request->object, operation_of(request)) == -EAGAIN)
            ask_for(loop, request);
    }
    return !uw_list_empty(&state->to_look_at);
}

/* A callback may end other operations. They are then removed from the list. */
static void tell_watches(struct uw_loop *loop)
{
    struct uw_list looked_at;

    uw_list_init(&looked_at);
    uw_list_move(&looked_at, &state_of(loop)->to_look_at);
    while (!uw_list_empty(&looked_at)) {
        struct request *request = uw_container_of(looked_at.next, struct request, link);
        struct uw_operation *operation = operation_of(request);

        uw_list_remove(&request->link);
        uw_list_remove(&request->operation);
        watch(loop, request, operation);
    }
}

/* Turns the call's result into the operation's result, or -EAGAIN when a part remains. */
static int64_t result_of_call(struct request *request, struct uw_operation *operation, int64_t result)
{
    if (operation->opcode == UW_CONNECT) {
        uw_overlapped_connected(request->object);
        return 0;
    }
    result = note_sent(operation, result);
    return result == -EAGAIN && operation->opcode == UW_SEND_FILE && file_left(operation, request->file) == 0
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

/* Translates the errors of a call to POSIX, where the end of a file is no error. */
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
    if (atomic_load(&request->object->closed) && (result < 0 || operation->opcode != UW_ACCEPT))
        result = -ECANCELED; /* the handle may be reused; an accepted client counts all the same */
    else if (result < 0)
        result = operation->cancelled ? -ECANCELED : as_posix(request, operation, result);
    if (operation->opcode == UW_ACCEPT)
        accepted(loop, request, operation, result);
    else if (result < 0)
        end(loop, request, operation, result);
    else if (operation->opcode == UW_RECEIVE)
        receive(loop, request, operation);
    else if (operation->opcode == UW_WATCH)
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
        return ready ? UW_WAIT_ALL : UW_WAIT_NOTHING;
    for (ULONG i = 0; i < count; i++)
        if (entries[i].lpOverlapped)
            complete(loop, (struct request *)entries[i].lpOverlapped);
        else
            loop->wakes++;
    return count < ENTRIES_PER_WAIT ? UW_WAIT_ALL : UW_WAIT_SOME;
}

static void iocp_wake(struct uw_loop *loop)
{
    uw_port_wake(&state_of(loop)->port);
}

/* Closing. */

static void cancel_all(struct iocp *state)
{
    for (struct uw_list *link = state->in_flight.next; link != &state->in_flight; link = link->next) {
        struct request *request = uw_container_of(link, struct request, link);

        uw_overlapped_cancel(&state->port, request->object, &request->call, request->way == BY_POLL);
    }
}

static void let_go(struct iocp *state, struct request *request)
{
    const struct uw_operation *operation = operation_of(request);

    (void)uw_overlapped_result(request->object, &request->call, request->way == BY_POLL);
    if (operation && operation->opcode == UW_ACCEPT && request->way == BY_CALL)
        uw_overlapped_let_go(&request->call);
    give_request(state, request);
}

/* A request that does not come back belongs to the kernel for ever, so its memory is not reused. */
static void iocp_close(struct uw_loop *loop)
{
    struct iocp *state = state_of(loop);
    OVERLAPPED_ENTRY entry;
    ULONG count;

    cancel_all(state);
    while (!uw_list_empty(&state->to_look_at))
        give_request(state, uw_container_of(state->to_look_at.next, struct request, link));
    while (!uw_list_empty(&state->in_flight) &&
           GetQueuedCompletionStatusEx(state->port.port, &entry, 1, &count, LAST_WAIT_MS, FALSE))
        if (entry.lpOverlapped) /* NULL comes from iocp_wake */
            let_go(state, (struct request *)entry.lpOverlapped);
    while (!uw_list_empty(&state->spares)) {
        struct request *request = uw_container_of(state->spares.next, struct request, link);

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
typedef int uw_backend_iocp_is_left_out; /* ISO C requires a declaration */
#endif
