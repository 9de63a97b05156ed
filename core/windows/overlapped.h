/* Calls of the kernel that end at a completion port, of the socket of an object. `call` stays where it is until its
 * completion has come, whatever becomes of the object. */
#ifndef UW_WINDOWS_OVERLAPPED_H
#define UW_WINDOWS_OVERLAPPED_H

#include <stddef.h>
#include <stdint.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "windows/sockets.h"

struct iovec;

#define UW_ADDRESS_BYTES 64 /* that AcceptEx wants room for, of each end */

struct uw_call {
    OVERLAPPED overlapped; /* first: the port tells its address */
    union {
        struct {
            uintptr_t socket; /* for the client */
            struct uw_expected client;
            char addresses[2 * UW_ADDRESS_BYTES];
        } accept;
        struct {
            LARGE_INTEGER timeout;
            ULONG count, exclusive;
            HANDLE handle;
            ULONG events;
            LONG status;
        } poll; /* what the driver takes and gives: AFD_POLL_INFO */
    };
};

/* A port, and what is polled by. */
struct uw_port {
    HANDLE port, driver;
    uint64_t number; /* of no other port that there ever was */
};

/* Returns 0 or -errno. */
int uw_port_open(struct uw_port *port);
void uw_port_close(struct uw_port *port);

/* Has the port tell of a completion of nothing. Any thread. */
void uw_port_wake(const struct uw_port *port);

/* Whether calls of the object's socket end at this port: a socket belongs to one, for good. */
bool uw_port_takes(const struct uw_port *port, struct uw_object *object);

/* All of them return 0, and the call will end at the port; or -errno, and it will not. */

/* Ends when there is something to receive. */
int uw_overlapped_receive(struct uw_object *object, struct uw_call *call);
int uw_overlapped_send(struct uw_object *object, struct uw_call *call, const struct iovec *pieces, size_t count);
/* `length` is not 0. -ENODATA, here or as its result: the file has ended. */
int uw_overlapped_send_file(struct uw_object *object, struct uw_call *call, const struct uw_object *file,
                            int64_t offset, uint32_t length);
int uw_overlapped_accept(struct uw_object *object, struct uw_call *call); /* -EAGAIN: there is no number for anybody */
int uw_overlapped_connect(struct uw_object *object, struct uw_call *call, const void *address, int size);

/* Of any socket: ends when one of the events has come, an error, or the end. */
int uw_overlapped_poll(const struct uw_port *port, struct uw_object *object, struct uw_call *call, int events);

/* Of a call that has ended: bytes, or -errno. To be called once. */
int64_t uw_overlapped_result(struct uw_object *object, const struct uw_call *call, bool polls);

/* After uw_overlapped_accept: the client's number or -errno. */
int uw_overlapped_accepted(struct uw_object *object, struct uw_call *call);

/* Nobody wants to know of the client any more, if one came. */
void uw_overlapped_let_go(struct uw_call *call);

/* After uw_overlapped_connect. */
void uw_overlapped_connected(struct uw_object *object);

/* Asks the kernel to end it; its completion comes all the same. Polls are the driver's. */
void uw_overlapped_cancel(const struct uw_port *port, struct uw_object *object, struct uw_call *call, bool polls);

#endif
