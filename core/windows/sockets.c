#include "windows/sockets.h"

#include <stdlib.h>
#include <string.h>
#include <winsock2.h>
#include <ws2tcpip.h>

#include "windows/errno_map.h"
#include "windows/files_flags.h"
#include "windows/poll_events.h"
#include "windows/sockets_flags.h"

#define PAIR_BYTES 65536 /* buffer size of each end, similar to a pipe */
#define PAIR_TRIES 16

/* Copies of include/sys/socket.h, which conflicts with <winsock2.h>. */
struct iovec {
    void *iov_base;
    size_t iov_len;
};

struct msghdr {
    void *msg_name;
    int msg_namelen;
    struct iovec *msg_iov;
    size_t msg_iovlen;
};

static int last_error(void)
{
    return uw_errno_of((unsigned long)WSAGetLastError());
}

int uw_errno_of_sending(int error)
{
    return error == ECONNRESET || error == ECONNABORTED || error == ENOTCONN ? EPIPE : error;
}

int64_t uw_socket_new(int family, int type, int protocol)
{
    SOCKET socket_handle =
        WSASocketW(family, type, protocol, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    u_long on = 1;

    if (socket_handle == INVALID_SOCKET)
        return -last_error();
    if (ioctlsocket(socket_handle, FIONBIO, &on)) {
        int error = last_error();

        closesocket(socket_handle);
        return -error;
    }
    return (int64_t)socket_handle;
}

int uw_socket_adopt(uintptr_t socket, enum uw_kind kind, int family, bool nonblocking, bool close_on_exec)
{
    struct uw_object *object = uw_object_new(kind, socket);

    if (!object) {
        closesocket(socket);
        return -ENOMEM;
    }
    object->family = family;
    atomic_store(&object->nonblocking, nonblocking);
    return uw_number_assign_new(object, close_on_exec);
}

int uw_reserved_client_open(struct uw_reserved_client *client, int family)
{
    struct uw_object *object = uw_object_new(UW_KIND_SOCKET, UW_NO_HANDLE);

    if (!object)
        return -ENOMEM;
    object->family = family;
    atomic_store(&object->nonblocking, true);
    *client = (struct uw_reserved_client){object, uw_number_assign(object, 0, true)};
    if (client->fd >= 0)
        return 0;
    uw_object_release(object);
    return client->fd;
}

/* If the number now names another object, the client gets a new number. */
int uw_reserved_client_accept(const struct uw_reserved_client *client, uintptr_t socket)
{
    int family = client->object->family;
    bool still_reserved = uw_number_set_handle(client->fd, client->object, socket);

    uw_object_release(client->object);
    return still_reserved ? client->fd : uw_socket_adopt(socket, UW_KIND_SOCKET, family, true, true);
}

void uw_reserved_client_close(const struct uw_reserved_client *client)
{
    uw_number_close(client->fd, client->object);
    uw_object_release(client->object);
}

/* Stores an accepted, non-blocking socket in `*client`. Returns 0 or -errno. */
static int accept_client(struct uw_object *object, SOCKET *client)
{
    u_long on = 1;

    if (!uw_object_enter(object))
        return -EINVAL;
    *client = accept(object->handle, NULL, NULL);
    uw_object_leave(object);
    if (*client == INVALID_SOCKET)
        return -last_error();
    if (ioctlsocket(*client, FIONBIO, &on)) {
        closesocket(*client);
        return -ECONNABORTED;
    }
    (void)SetHandleInformation((HANDLE)*client, HANDLE_FLAG_INHERIT, 0);
    return 0;
}

/* Accepts a client only with a free number. Other clients wait in the backlog. */
int uw_socket_accept(struct uw_object *object)
{
    struct uw_reserved_client expected;
    SOCKET client;
    int error = atomic_load(&object->closed) ? -EINVAL : uw_reserved_client_open(&expected, object->family);

    if (error)
        return error;
    error = accept_client(object, &client);
    if (error) {
        uw_reserved_client_close(&expected);
        return error;
    }
    return uw_reserved_client_accept(&expected, client);
}

/* Wine reports a reset only once, to the waiting thread. Later calls report an end of file. */
static bool was_reset(const struct uw_object *object)
{
    WSAPOLLFD item = {.fd = object->handle, .events = POLLRDNORM};

    return WSAPoll(&item, 1, 0) > 0 && item.revents & POLLERR;
}

/* A connection that Windows has aborted counts as reset. */
static int64_t receive_bytes(const struct uw_object *object, void *bytes, size_t length, int flags)
{
    int count = recv(object->handle, bytes, length < INT32_MAX ? (int)length : INT32_MAX, flags);
    int error = count < 0 ? last_error() : 0;

    if (error == ECONNABORTED || (count == 0 && length > 0 && was_reset(object)))
        return -ECONNRESET;
    return error ? -error : count;
}

int64_t uw_socket_receive(const struct uw_object *object, void *bytes, size_t length)
{
    return receive_bytes(object, bytes, length, 0);
}

size_t uw_fill_buffers(struct _WSABUF *buffers, const struct iovec *pieces, size_t count)
{
    if (count > UW_PIECES_MAX)
        count = UW_PIECES_MAX;
    for (size_t i = 0; i < count; i++)
        buffers[i] = (WSABUF){(ULONG)pieces[i].iov_len, pieces[i].iov_base};
    return count;
}

/* `object` is the write end of a pipe. It gets an end of file when the reader has closed. */
static bool reader_has_closed(const struct uw_object *object)
{
    WSAPOLLFD item = {.fd = object->handle, .events = POLLRDNORM};
    char byte;

    return WSAPoll(&item, 1, 0) > 0 && receive_bytes(object, &byte, 1, MSG_PEEK) != -EAGAIN;
}

int64_t uw_socket_send(const struct uw_object *object, const struct iovec *pieces, size_t count)
{
    WSABUF buffers[UW_PIECES_MAX];
    DWORD filled = (DWORD)uw_fill_buffers(buffers, pieces, count), sent;

    /* data to a closed reader would disappear without an error */
    if (object->kind == UW_KIND_PIPE_OUT && reader_has_closed(object))
        return -EPIPE;
    if (WSASend(object->handle, buffers, filled, &sent, 0, NULL, NULL))
        return -uw_errno_of_sending(last_error());
    return sent;
}

int uw_socket_connect(const struct uw_object *object, const void *address, int size)
{
    if (connect(object->handle, address, size) == 0)
        return 0;
    return -last_error();
}

int uw_socket_connected(const struct uw_object *object)
{
    int error = 0, size = sizeof error;

    if (getsockopt(object->handle, SOL_SOCKET, SO_ERROR, (char *)&error, &size))
        return -last_error();
    return error ? -uw_errno_of((unsigned long)error) : 0;
}

static short to_winsock(int events)
{
    return (short)((events & UW_EVENT_IN ? POLLRDNORM : 0) | (events & UW_EVENT_PRI ? POLLRDBAND : 0) |
                   (events & UW_EVENT_OUT ? POLLWRNORM : 0));
}

static int from_winsock(int events)
{
    return (events & POLLRDNORM ? UW_EVENT_IN : 0) | (events & POLLRDBAND ? UW_EVENT_PRI : 0) |
           (events & POLLWRNORM ? UW_EVENT_OUT : 0) | (events & POLLERR ? UW_EVENT_ERR : 0) |
           (events & POLLHUP ? UW_EVENT_HUP : 0) | (events & POLLNVAL ? UW_EVENT_NVAL : 0);
}

static bool is_at_end(const struct uw_object *object)
{
    char byte;

    return receive_bytes(object, &byte, 1, MSG_PEEK) == 0;
}

/* Winsock reports a hang-up when only the peer has shut down, unlike POSIX. POSIX reports the end of a pipe as a
 * hang-up. */
static int posix_events(const struct uw_object *object, int events, int occurred)
{
    if (occurred & UW_EVENT_ERR)
        occurred |= events & (UW_EVENT_IN | UW_EVENT_OUT);
    else if (occurred & UW_EVENT_HUP)
        occurred = (occurred & ~UW_EVENT_HUP) | (events & UW_EVENT_IN);
    if (object->kind == UW_KIND_PIPE_IN && occurred & UW_EVENT_IN && is_at_end(object))
        return UW_EVENT_HUP;
    return occurred;
}

static int poll_socket(const struct uw_object *object, int events, int wait_ms)
{
    WSAPOLLFD item = {.fd = object->handle, .events = to_winsock(events)};
    int count = WSAPoll(&item, 1, wait_ms);

    if (count < 0)
        return -last_error();
    return count == 0 ? 0 : posix_events(object, events, from_winsock(item.revents));
}

int uw_object_poll(struct uw_object *object, int events, int wait_ms)
{
    int occurred;

    if (atomic_load(&object->closed))
        return UW_EVENT_NVAL;
    if (!uw_object_is_socket(object))
        return events & (UW_EVENT_IN | UW_EVENT_OUT);
    occurred = poll_socket(object, events, wait_ms);
    if (occurred >= 0 && object->kind == UW_KIND_PIPE_OUT && reader_has_closed(object))
        occurred |= UW_EVENT_ERR;
    return occurred;
}

/* Returns the socket of the number with a new reference. Returns NULL with errno on errors. */
static struct uw_object *retain_socket(int fd)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object) {
        errno = EBADF;
        return NULL;
    }
    if (uw_object_is_socket(object) && !atomic_load(&object->closed))
        return object;
    errno = uw_object_is_socket(object) ? EINVAL : ENOTSOCK; /* a closed handle may name another object by now */
    uw_object_release(object);
    return NULL;
}

static int release_and_return(struct uw_object *object, int64_t result)
{
    uw_object_release(object);
    return result < 0 ? uw_lacking((int)-result) : (int)result;
}

static bool may_wait(const struct uw_object *object, int flags)
{
    return !atomic_load(&object->nonblocking) && !(flags & UW_MESSAGE_DONTWAIT);
}

static int wait_limit_ms(const struct uw_object *object)
{
    int wait_ms = atomic_load(&object->wait_ms);

    return wait_ms > 0 ? wait_ms : -1;
}

int uw_posix_socket(int family, int type, int protocol)
{
    int64_t socket_handle = uw_socket_new(family, type & 0xf, protocol);
    int fd = socket_handle < 0 ? (int)socket_handle
                               : uw_socket_adopt((uintptr_t)socket_handle, UW_KIND_SOCKET, family,
                                                 type & UW_SOCKET_NONBLOCK, type & UW_SOCKET_CLOEXEC);

    return fd < 0 ? uw_lacking(-fd) : fd;
}

int uw_posix_bind(int fd, const struct sockaddr *address, int size)
{
    struct uw_object *object = retain_socket(fd);

    return object ? release_and_return(object, bind(object->handle, address, size) ? -last_error() : 0) : -1;
}

int uw_posix_listen(int fd, int backlog)
{
    struct uw_object *object = retain_socket(fd);

    return object ? release_and_return(object, listen(object->handle, backlog) ? -last_error() : 0) : -1;
}

int uw_posix_accept4(int fd, struct sockaddr *address, int *size, int flags)
{
    struct uw_object *object = retain_socket(fd), *client;
    int accepted;

    if (!object)
        return -1;
    while ((accepted = uw_socket_accept(object)) == -EAGAIN && may_wait(object, 0))
        if (uw_object_poll(object, UW_EVENT_IN, wait_limit_ms(object)) == 0)
            break;
    accepted = release_and_return(object, accepted);
    client = accepted < 0 ? NULL : uw_number_retain(accepted);
    if (client) {
        atomic_store(&client->nonblocking, flags & UW_SOCKET_NONBLOCK);
        if (address)
            (void)getpeername(client->handle, address, size);
        uw_object_release(client);
    }
    return accepted;
}

int uw_posix_accept(int fd, struct sockaddr *address, int *size)
{
    return uw_posix_accept4(fd, address, size, 0);
}

int uw_posix_connect(int fd, const struct sockaddr *address, int size)
{
    struct uw_object *object = retain_socket(fd);
    int error;

    if (!object)
        return -1;
    error = uw_socket_connect(object, address, size);
    if (error == -EAGAIN && !may_wait(object, 0))
        error = -EINPROGRESS;
    if (error == -EAGAIN) {
        (void)uw_object_poll(object, UW_EVENT_OUT, -1);
        error = uw_socket_connected(object);
    }
    return release_and_return(object, error);
}

static bool is_listening(const struct uw_object *object)
{
    int listening = 0, size = sizeof listening;

    return getsockopt(object->handle, SOL_SOCKET, SO_ACCEPTCONN, (char *)&listening, &size) == 0 && listening;
}

/* Windows cannot end listening with shutdown(). The socket must be closed. */
int uw_posix_shutdown(int fd, int how)
{
    struct uw_object *object = retain_socket(fd);

    if (!object)
        return -1;
    if (is_listening(object)) {
        uw_object_end(object);
        return release_and_return(object, 0);
    }
    return release_and_return(object, shutdown(object->handle, how) ? -last_error() : 0);
}

ssize_t uw_posix_recv(int fd, void *bytes, size_t length, int flags)
{
    struct uw_object *object = retain_socket(fd);
    int64_t count;

    if (!object)
        return -1;
    while ((count = receive_bytes(object, bytes, length, flags & MSG_PEEK)) == -EAGAIN && may_wait(object, flags))
        if (uw_object_poll(object, UW_EVENT_IN, wait_limit_ms(object)) == 0)
            break;
    return release_and_return(object, count);
}

static int64_t send_out_of_band(const struct uw_object *object, const void *bytes, size_t length)
{
    int count = send(object->handle, bytes, (int)length, MSG_OOB);

    return count < 0 ? -uw_errno_of_sending(last_error()) : count;
}

/* A blocking socket sends all bytes. */
ssize_t uw_posix_send(int fd, const void *bytes, size_t length, int flags)
{
    struct uw_object *object = retain_socket(fd);
    struct iovec piece = {(void *)(uintptr_t)bytes, length};
    int64_t count;
    size_t sent = 0;

    if (!object)
        return -1;
    if (flags & MSG_OOB)
        return release_and_return(object, send_out_of_band(object, bytes, length));
    do {
        count = uw_socket_send(object, &piece, 1);
        if (count >= 0) {
            sent += (size_t)count;
            piece = (struct iovec){(char *)piece.iov_base + count, piece.iov_len - (size_t)count};
        } else if (count == -EAGAIN && may_wait(object, flags)) {
            (void)uw_object_poll(object, UW_EVENT_OUT, -1);
        } else {
            break;
        }
    } while (piece.iov_len > 0 && may_wait(object, flags));
    return release_and_return(object, sent > 0 || count >= 0 ? (int64_t)sent : count);
}

/* The core calls sendmsg(2) only for non-blocking sockets, or with MSG_DONTWAIT. */
ssize_t uw_posix_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct uw_object *object = retain_socket(fd);

    (void)flags;
    return object ? release_and_return(object, uw_socket_send(object, message->msg_iov, message->msg_iovlen)) : -1;
}

int uw_posix_getsockname(int fd, struct sockaddr *address, int *size)
{
    struct uw_object *object = retain_socket(fd);

    return object ? release_and_return(object, getsockname(object->handle, address, size) ? -last_error() : 0) : -1;
}

int uw_posix_getpeername(int fd, struct sockaddr *address, int *size)
{
    struct uw_object *object = retain_socket(fd);

    return object ? release_and_return(object, getpeername(object->handle, address, size) ? -last_error() : 0) : -1;
}

int uw_posix_getsockopt(int fd, int level, int option, void *value, int *size)
{
    struct uw_object *object = retain_socket(fd);

    if (!object)
        return -1;
    if (level == SOL_SOCKET && option == SO_ERROR) {
        *(int *)value = -uw_socket_connected(object);
        return release_and_return(object, 0);
    }
    return release_and_return(object, getsockopt(object->handle, level, option, value, size) ? -last_error() : 0);
}

/* SO_REUSEADDR of Windows would let any process take over the address. The default of Windows has the effect of
 * SO_REUSEADDR in POSIX. */
int uw_posix_setsockopt(int fd, int level, int option, const void *value, int size)
{
    struct uw_object *object = retain_socket(fd);

    if (!object)
        return -1;
    if (level == SOL_SOCKET && option == SO_REUSEADDR)
        return release_and_return(object, 0);
    if (level == SOL_SOCKET && option == SO_RCVTIMEO) {
        const struct timeval *limit = value;

        atomic_store(&object->wait_ms, (int)(limit->tv_sec * 1000 + (limit->tv_usec + 999) / 1000));
        return release_and_return(object, 0);
    }
    return release_and_return(object, setsockopt(object->handle, level, option, value, size) ? -last_error() : 0);
}

static void set_pair_bytes(SOCKET socket)
{
    static const int bytes = PAIR_BYTES, on = 1;

    (void)setsockopt(socket, SOL_SOCKET, SO_SNDBUF, (const char *)&bytes, sizeof bytes);
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, (const char *)&bytes, sizeof bytes);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, (const char *)&on, sizeof on);
}

/* Checks the peer, because another process may have connected to the listening socket. */
static bool are_connected(SOCKET connecting, SOCKET accepted)
{
    struct sockaddr_in ours = {0}, theirs = {0};
    int size = sizeof ours, other_size = sizeof theirs;

    return getsockname(connecting, (struct sockaddr *)&ours, &size) == 0 &&
           getpeername(accepted, (struct sockaddr *)&theirs, &other_size) == 0 && ours.sin_port == theirs.sin_port &&
           ours.sin_addr.s_addr == theirs.sin_addr.s_addr;
}

static SOCKET listen_for_pair(struct sockaddr_in *address)
{
    SOCKET listener = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    int size = sizeof *address;

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (listener == INVALID_SOCKET)
        return listener;
    /* Accepted sockets inherit these options. The window is negotiated when connecting. */
    set_pair_bytes(listener);
    if (bind(listener, (struct sockaddr *)address, size) == 0 && listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)address, &size) == 0)
        return listener;
    closesocket(listener);
    return INVALID_SOCKET;
}

static SOCKET connect_pair(const struct sockaddr_in *address)
{
    SOCKET connecting = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);

    if (connecting == INVALID_SOCKET)
        return connecting;
    set_pair_bytes(connecting);
    if (connect(connecting, (const struct sockaddr *)address, sizeof *address) == 0)
        return connecting;
    closesocket(connecting);
    return INVALID_SOCKET;
}

static SOCKET accept_pair(SOCKET listener, SOCKET connecting)
{
    for (int i = 0; i < PAIR_TRIES; i++) {
        SOCKET accepted = accept(listener, NULL, NULL);

        if (accepted == INVALID_SOCKET || are_connected(connecting, accepted)) {
            if (accepted != INVALID_SOCKET)
                set_pair_bytes(accepted);
            return accepted;
        }
        closesocket(accepted);
    }
    return INVALID_SOCKET;
}

/* Windows has no socketpair(). The pair is a connection on the loopback interface. Returns 0 or -errno. */
static int make_pair(SOCKET ends[2])
{
    struct sockaddr_in address;
    SOCKET listener = listen_for_pair(&address);
    u_long on = 1;
    int error;

    if (listener == INVALID_SOCKET)
        return -last_error();
    ends[0] = connect_pair(&address);
    ends[1] = ends[0] == INVALID_SOCKET ? INVALID_SOCKET : accept_pair(listener, ends[0]);
    error = ends[1] == INVALID_SOCKET ? -last_error() : 0;
    closesocket(listener);
    if (!error && !ioctlsocket(ends[0], FIONBIO, &on) && !ioctlsocket(ends[1], FIONBIO, &on))
        return 0;
    for (int i = 0; i < 2; i++)
        if (ends[i] != INVALID_SOCKET)
            closesocket(ends[i]);
    return error ? error : -EMFILE;
}

static int open_pair(int fds[2], enum uw_kind first, enum uw_kind second, bool nonblocking, bool close_on_exec)
{
    SOCKET ends[2] = {INVALID_SOCKET, INVALID_SOCKET};
    int error = make_pair(ends);

    if (error)
        return uw_lacking(-error);
    fds[0] = uw_socket_adopt(ends[0], first, AF_INET, nonblocking, close_on_exec);
    fds[1] = uw_socket_adopt(ends[1], second, AF_INET, nonblocking, close_on_exec);
    if (fds[0] >= 0 && fds[1] >= 0)
        return 0;
    error = fds[0] < 0 ? fds[0] : fds[1];
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            (void)uw_posix_close(fds[i]);
    return uw_lacking(-error);
}

int uw_posix_socketpair(int family, int type, int protocol, int ends[2])
{
    (void)family;
    if ((type & 0xf) != SOCK_STREAM || protocol)
        return uw_lacking(EOPNOTSUPP);
    return open_pair(ends, UW_KIND_SOCKET, UW_KIND_SOCKET, type & UW_SOCKET_NONBLOCK, type & UW_SOCKET_CLOEXEC);
}

int uw_posix_pipe2(int ends[2], int flags)
{
    return open_pair(ends, UW_KIND_PIPE_IN, UW_KIND_PIPE_OUT, flags & UW_FILE_NONBLOCK, flags & UW_FILE_CLOEXEC);
}

int uw_posix_pipe(int ends[2])
{
    return uw_posix_pipe2(ends, 0);
}

int uw_posix_inet_pton(int family, const char *text, void *address)
{
    return inet_pton(family, text, address);
}

const char *uw_posix_inet_ntop(int family, const void *address, char *text, int size)
{
    return inet_ntop(family, address, text, (size_t)size);
}
