/* Kernel calls on an object's socket that end at a completion port. `call` must not move until its completion has
 * arrived, whatever happens to the object. */
#ifndef UW_WINDOWS_OVERLAPPED_H
#define UW_WINDOWS_OVERLAPPED_H

#include <stddef.h>
#include <stdint.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "windows/sockets.h"

struct iovec;

#define UW_ADDRESS_BYTES 64 /* of each end, for which AcceptEx needs space */

struct uw_call {
    OVERLAPPED overlapped; /* first: the port returns its address */
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
        } poll; /* the driver's input and output: AFD_POLL_INFO */
    };
};

/* A completion port, and the driver handle for polls. */
struct uw_port {
    HANDLE port, driver;
    uint64_t number; /* of no other port that there ever was */
};

/* Returns 0 or -errno. */
int uw_port_open(struct uw_port *port);
void uw_port_close(struct uw_port *port);

/* Posts an empty completion to the port. Any thread. */
void uw_port_wake(const struct uw_port *port);

/* Whether calls of the object's socket end at this port. A socket belongs to one port permanently. */
bool uw_port_takes(const struct uw_port *port, struct uw_object *object);

/* All of them return 0, and the call will end at the port; or -errno, and it will not. */

/* Ends when data can be received. */
int uw_overlapped_receive(struct uw_object *object, struct uw_call *call);
int uw_overlapped_send(struct uw_object *object, struct uw_call *call, const struct iovec *pieces, size_t count);
/* `length` is not 0. -ENODATA, here or as its result: the file has ended. */
int uw_overlapped_send_file(struct uw_object *object, struct uw_call *call, const struct uw_object *file,
                            int64_t offset, uint32_t length);
int uw_overlapped_accept(struct uw_object *object, struct uw_call *call); /* -EAGAIN: no number is free for a client */
int uw_overlapped_connect(struct uw_object *object, struct uw_call *call, const void *address, int size);

/* Polls any socket: ends at one of the events, an error, or a hang-up. */
int uw_overlapped_poll(const struct uw_port *port, struct uw_object *object, struct uw_call *call, int events);

/* Returns the bytes of a call that has ended, or -errno. Call this once. */
int64_t uw_overlapped_result(struct uw_object *object, const struct uw_call *call, bool polls);

/* After uw_overlapped_accept: the client's number or -errno. */
int uw_overlapped_accepted(struct uw_object *object, struct uw_call *call);

/* Drops the client, if one was accepted. */
void uw_overlapped_let_go(struct uw_call *call);

/* After uw_overlapped_connect. */
void uw_overlapped_connected(struct uw_object *object);

/* Asks the kernel to cancel the call; its completion still arrives. Polls are cancelled at the driver. */
void uw_overlapped_cancel(const struct uw_port *port, struct uw_object *object, struct uw_call *call, bool polls);

#endif
