#include <winsock2.h>
/* must follow <winsock2.h> */
#include <mswsock.h>
#include <winternl.h>
#include <ws2tcpip.h>

#include "windows/errno_map.h"
#include "windows/files.h"
#include "windows/overlapped.h"
#include "windows/poll_events.h"

/* Interface of the driver AFD (see ntifs.h of the Windows Driver Kit, and Wine's implementation). */
#define IOCTL_AFD_POLL 0x00012024
#define AFD_POLL_RECEIVE 0x0001
#define AFD_POLL_RECEIVE_EXPEDITED 0x0002
#define AFD_POLL_SEND 0x0004
#define AFD_POLL_DISCONNECT 0x0008
#define AFD_POLL_ABORT 0x0010
#define AFD_POLL_LOCAL_CLOSE 0x0020
#define AFD_POLL_ACCEPT 0x0080
#define AFD_POLL_CONNECT_FAIL 0x0100

#define FOREIGN_PORT UINT64_MAX /* marks a socket of a completion port outside of this file */
#define RETRY_PAUSE_MS 1        /* pause before a retry without memory */

struct iovec {
    void *iov_base;
    size_t iov_len;
};

static LPFN_ACCEPTEX accept_ex;
static LPFN_CONNECTEX connect_ex;

static int pending_error(bool at_once)
{
    int error = at_once ? 0 : WSAGetLastError();

    return error == 0 || error == WSA_IO_PENDING ? 0 : -uw_errno_of((unsigned long)error);
}

static int count_overlapped(struct uw_object *object, int error)
{
    if (!error)
        atomic_fetch_add(&object->overlapped, 1);
    return error;
}

static int load_function(SOCKET socket, GUID name, void *function, DWORD size)
{
    DWORD bytes;

    return WSAIoctl(socket, SIO_GET_EXTENSION_FUNCTION_POINTER, &name, sizeof name, function, size, &bytes, NULL, NULL)
               ? -uw_errno_of((unsigned long)WSAGetLastError())
               : 0;
}

/* All threads store the same functions, so no lock is needed. */
static int load_functions(void)
{
    int64_t socket = uw_socket_new(AF_INET, SOCK_STREAM, 0);
    int error;

    if (socket < 0)
        return (int)socket;
    error = load_function((SOCKET)socket, (GUID)WSAID_ACCEPTEX, &accept_ex, sizeof accept_ex);
    if (!error)
        error = load_function((SOCKET)socket, (GUID)WSAID_CONNECTEX, &connect_ex, sizeof connect_ex);
    closesocket((SOCKET)socket);
    return error;
}

static int open_driver(struct uw_port *port)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    IO_STATUS_BLOCK block;
    NTSTATUS status;

    RtlInitUnicodeString(&name, L"\\Device\\Afd\\Upwell");
    InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
    status = NtCreateFile(&port->driver, SYNCHRONIZE, &attributes, &block, NULL, 0, FILE_SHARE_READ | FILE_SHARE_WRITE,
                          FILE_OPEN, 0, NULL, 0);
    if (status < 0)
        return -uw_errno_of_status(status);
    if (CreateIoCompletionPort(port->driver, port->port, 0, 0))
        return 0;
    status = -uw_errno_of(GetLastError());
    CloseHandle(port->driver);
    return status;
}

int uw_port_open(struct uw_port *port)
{
    static _Atomic uint64_t ports;
    int error = load_functions();

    if (error)
        return error;
    port->number = atomic_fetch_add(&ports, 1) + 1;
    port->port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    if (!port->port)
        return -uw_errno_of(GetLastError());
    error = open_driver(port);
    if (error)
        CloseHandle(port->port);
    return error;
}

void uw_port_close(struct uw_port *port)
{
    CloseHandle(port->driver);
    CloseHandle(port->port);
}

void uw_port_wake(const struct uw_port *port)
{
    while (!PostQueuedCompletionStatus(port->port, 0, 0, NULL) && uw_errno_of(GetLastError()) == ENOMEM)
        /* Without the wake-up the waiting thread would wait for ever. */
        Sleep(RETRY_PAUSE_MS);
}

bool uw_port_takes(const struct uw_port *port, struct uw_object *object)
{
    uint64_t no_port = 0;

    if (atomic_load(&object->port) == port->number)
        return true;
    if (!atomic_compare_exchange_strong(&object->port, &no_port, FOREIGN_PORT))
        return false;
    if (!CreateIoCompletionPort((HANDLE)object->handle, port->port, 0, 0))
        return false;
    atomic_store(&object->port, port->number);
    return true;
}

int uw_overlapped_receive(struct uw_object *object, struct uw_call *call)
{
    WSABUF nothing = {0, NULL};
    DWORD flags = 0;

    return count_overlapped(
        object, pending_error(WSARecv(object->handle, &nothing, 1, NULL, &flags, &call->overlapped, NULL) == 0));
}

int uw_overlapped_send(struct uw_object *object, struct uw_call *call, const struct iovec *pieces, size_t count)
{
    WSABUF buffers[UW_PIECES_MAX];
    DWORD filled = (DWORD)uw_fill_buffers(buffers, pieces, count);
    int error;

    error = pending_error(WSASend(object->handle, buffers, filled, NULL, 0, &call->overlapped, NULL) == 0);
    return count_overlapped(object, -uw_errno_of_sending(-error));
}

int uw_overlapped_send_file(struct uw_object *object, struct uw_call *call, const struct uw_object *file,
                            int64_t offset, uint32_t length)
{
    int error;

    call->overlapped.Offset = (DWORD)offset;
    call->overlapped.OffsetHigh = (DWORD)((uint64_t)offset >> 32);
    error = pending_error(
        TransmitFile(object->handle, (HANDLE)file->handle, length, 0, &call->overlapped, NULL, TF_USE_KERNEL_APC));
    return count_overlapped(object, -uw_errno_of_sending(-error));
}

static int start_accept(struct uw_object *object, struct uw_call *call)
{
    int64_t client = uw_socket_new(object->family, SOCK_STREAM, 0);
    DWORD received;
    int error;

    if (client < 0)
        return (int)client;
    call->accept.socket = (uintptr_t)client;
    error = pending_error(accept_ex(object->handle, (SOCKET)client, call->accept.addresses, 0, UW_ADDRESS_BYTES,
                                    UW_ADDRESS_BYTES, &received, &call->overlapped));
    if (error)
        closesocket((SOCKET)client);
    return count_overlapped(object, error);
}

/* The kernel could accept a client without a free number for it. So a number is reserved first. Without a free number
 * the call fails with -EAGAIN. */
int uw_overlapped_accept(struct uw_object *object, struct uw_call *call)
{
    int error = uw_reserved_client_open(&call->accept.client, object->family);

    if (error)
        return error == -EMFILE ? -EAGAIN : error;
    error = start_accept(object, call);
    if (error)
        uw_reserved_client_close(&call->accept.client);
    return error;
}

int uw_overlapped_accepted(struct uw_object *object, struct uw_call *call)
{
    SOCKET listener = object->handle, client = call->accept.socket;

    if (!atomic_load(&object->closed)) /* after closing, the handle may name another object */
        (void)setsockopt(client, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, (const char *)&listener, sizeof listener);
    return uw_reserved_client_accept(&call->accept.client, client);
}

void uw_overlapped_let_go(struct uw_call *call)
{
    closesocket(call->accept.socket);
    uw_reserved_client_close(&call->accept.client);
}

/* ConnectEx requires a bound socket. */
static void bind_to_any(const struct uw_object *object)
{
    struct sockaddr_storage any = {.ss_family = (ADDRESS_FAMILY)object->family};

    (void)bind(object->handle, (struct sockaddr *)&any,
               object->family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
}

int uw_overlapped_connect(struct uw_object *object, struct uw_call *call, const void *address, int size)
{
    bind_to_any(object); /* fails if the socket is bound already */
    return count_overlapped(object,
                            pending_error(connect_ex(object->handle, address, size, NULL, 0, NULL, &call->overlapped)));
}

void uw_overlapped_connected(struct uw_object *object)
{
    (void)setsockopt(object->handle, SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, NULL, 0);
}

static ULONG afd_events(int events)
{
    return (events & UW_EVENT_IN ? AFD_POLL_RECEIVE | AFD_POLL_ACCEPT | AFD_POLL_DISCONNECT : 0) |
           (events & UW_EVENT_PRI ? AFD_POLL_RECEIVE_EXPEDITED : 0) | (events & UW_EVENT_OUT ? AFD_POLL_SEND : 0) |
           AFD_POLL_ABORT | AFD_POLL_CONNECT_FAIL | AFD_POLL_LOCAL_CLOSE;
}

int uw_overlapped_poll(const struct uw_port *port, struct uw_object *object, struct uw_call *call, int events)
{
    NTSTATUS status;

    /* The write end of a pipe gets an end of file when the reader has closed. */
    if (object->kind == UW_KIND_PIPE_OUT)
        events |= UW_EVENT_IN;
    call->poll.timeout.QuadPart = INT64_MAX;
    call->poll.count = 1;
    call->poll.exclusive = 0;
    call->poll.handle = (HANDLE)object->handle;
    call->poll.events = afd_events(events);
    call->poll.status = 0;
    call->overlapped.Internal = (ULONG_PTR)STATUS_PENDING;
    status = NtDeviceIoControlFile(port->driver, NULL, NULL, &call->overlapped, (IO_STATUS_BLOCK *)&call->overlapped,
                                   IOCTL_AFD_POLL, &call->poll, sizeof call->poll, &call->poll, sizeof call->poll);
    return status == 0 || status == STATUS_PENDING ? 0 : -uw_errno_of_status(status);
}

int64_t uw_overlapped_result(struct uw_object *object, const struct uw_call *call, bool polls)
{
    NTSTATUS status = (NTSTATUS)call->overlapped.Internal;

    if (!polls)
        atomic_fetch_sub(&object->overlapped, 1);
    return status < 0 ? -uw_errno_of_status(status) : (int64_t)call->overlapped.InternalHigh;
}

void uw_overlapped_cancel(const struct uw_port *port, struct uw_object *object, struct uw_call *call, bool polls)
{
    if (polls)
        (void)CancelIoEx(port->driver, &call->overlapped);
    else if (!atomic_load(&object->closed))
        (void)CancelIoEx((HANDLE)object->handle, &call->overlapped);
}
