/* What is done with the socket of an object, without its number, by whoever holds it. Counts, or -errno. */
#ifndef UW_WINDOWS_SOCKETS_H
#define UW_WINDOWS_SOCKETS_H

#include <stddef.h>

#include "windows/numbers.h"

struct iovec;
struct _WSABUF; /* Winsock's, whose header ours must not bring */

#define UW_PIECES_MAX 64 /* of a vector in one call */

/* A number for a new socket, non-blocking and close-on-exec or as told; or -errno. */
int uw_socket_adopt(uintptr_t socket, enum uw_kind kind, int family, bool nonblocking, bool close_on_exec);

/* A client who is yet to be accepted has a number. */
struct uw_expected {
    struct uw_object *object; /* held: others may close the number, or have it stand for something else */
    int fd;
};

/* Returns 0 or -errno. */
int uw_client_expect(struct uw_expected *client, int family);

/* He has come, or not. Returns his number, or -errno. */
int uw_client_came(const struct uw_expected *client, uintptr_t socket);
void uw_client_forget(const struct uw_expected *client);

/* A SOCKET that can be waited for; or -errno. */
int64_t uw_socket_new(int family, int type, int protocol);

/* None of these waits: -EAGAIN. */
int uw_socket_accept(struct uw_object *object);
int64_t uw_socket_receive(const struct uw_object *object, void *bytes, size_t length);
int64_t uw_socket_send(const struct uw_object *object, const struct iovec *pieces, size_t count);

/* Of UW_PIECES_MAX buffers. Returns how many pieces there was room for. */
size_t uw_fill_buffers(struct _WSABUF *buffers, const struct iovec *pieces, size_t count);

/* 0; or -EAGAIN: it will be writable once it is connected, or has failed. */
int uw_socket_connect(const struct uw_object *object, const void *address, int size);

/* What became of that: 0 or -errno. */
int uw_socket_connected(const struct uw_object *object);

/* Which of the events (windows/events.h) there are, with errors and ends; waits so long, or without end for -1. Of what
 * is no socket: all that were asked for. */
int uw_object_poll(struct uw_object *object, int events, int wait_ms);

/* A failure to send as POSIX has it: who has left is one whom nothing can be sent to. */
int uw_errno_of_sending(int error);

#endif
