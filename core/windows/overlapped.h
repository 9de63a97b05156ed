/* Kernel calls on an object's socket that complete at a completion port. `call` must not move until its completion has
 * arrived, whatever happens to the object. */
#ifndef UW_WINDOWS_OVERLAPPED_H
#define UW_WINDOWS_OVERLAPPED_H

#include <stddef.h>
#include <stdint.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "windows/sockets.h"

struct iovec;

#define UW_ADDRESS_BYTES 64 /* bytes that AcceptEx needs for the address of each end */

struct uw_call {
    OVERLAPPED overlapped; /* first member, because the port returns its address */
    union {
        struct {
            uintptr_t socket; /* new socket of the client */
            struct uw_reserved_client client;
            char addresses[2 * UW_ADDRESS_BYTES];
        } accept;
        struct {
            LARGE_INTEGER timeout;
            ULONG count, exclusive;
            HANDLE handle;
            ULONG events;
            LONG status;
        } poll; /* AFD_POLL_INFO: input and output of the driver */
    };
};

/* A completion port, and the handle of the driver for polls */
struct uw_port {
    HANDLE port, driver;
    uint64_t number; /* unique in this process, also after the port is closed */
};

/* Returns 0 or -errno. */
int uw_port_open(struct uw_port *port);
void uw_port_close(struct uw_port *port);

/* Posts an empty completion to the port. Any thread may call this function. */
void uw_port_wake(const struct uw_port *port);

/* Returns true if calls of the object's socket complete at this port. Associates a new socket with the port. A socket
 * belongs to one port permanently. */
bool uw_port_takes(const struct uw_port *port, struct uw_object *object);

/* The following functions return 0 if the call will complete at the port. After an -errno no completion arrives. */

/* Completes when data can be received. */
int uw_overlapped_receive(struct uw_object *object, struct uw_call *call);
int uw_overlapped_send(struct uw_object *object, struct uw_call *call, const struct iovec *pieces, size_t count);
/* `length` is not 0. -ENODATA, returned here or as the result: the file has ended. */
int uw_overlapped_send_file(struct uw_object *object, struct uw_call *call, const struct uw_object *file,
                            int64_t offset, uint32_t length);
int uw_overlapped_accept(struct uw_object *object, struct uw_call *call); /* -EAGAIN: no number is free */
int uw_overlapped_connect(struct uw_object *object, struct uw_call *call, const void *address, int size);

/* Polls any socket. Completes at one of the events, an error, or a hang-up. */
int uw_overlapped_poll(const struct uw_port *port, struct uw_object *object, struct uw_call *call, int events);

/* Returns the byte count of a completed call, or -errno. Must be called once for each completion. */
int64_t uw_overlapped_result(struct uw_object *object, const struct uw_call *call, bool polls);

/* Ends a successful uw_overlapped_accept. Returns the client's number or -errno. */
int uw_overlapped_accepted(struct uw_object *object, struct uw_call *call);

/* Ends uw_overlapped_accept without a client: closes its socket and its reserved number. */
void uw_overlapped_let_go(struct uw_call *call);

/* Ends a successful uw_overlapped_connect. */
void uw_overlapped_connected(struct uw_object *object);

/* Asks the kernel to cancel the call. The completion still arrives. Polls are cancelled at the driver. */
void uw_overlapped_cancel(const struct uw_port *port, struct uw_object *object, struct uw_call *call, bool polls);

#endif
