/* Calls on the socket of an object, without a number. The caller has a reference to the object. Functions return
 * counts, or -errno. */
#ifndef UW_WINDOWS_SOCKETS_H
#define UW_WINDOWS_SOCKETS_H

#include <stddef.h>

#include "windows/descriptor_table.h"

struct iovec;
struct _WSABUF; /* WSABUF of Winsock. This header must not include <winsock2.h> */

#define UW_PIECES_MAX 64 /* pieces of a vector that one call sends */

/* Takes ownership of `socket`, even on errors. Returns its new number, or -errno. */
int uw_socket_adopt(uintptr_t socket, enum uw_kind kind, int family, bool nonblocking, bool close_on_exec);

/* A reserved number for a client, before accept(2) */
struct uw_reserved_client {
    struct uw_object *object; /* referenced, because other threads may close or reuse the number */
    int fd;
};

/* Reserves a number. Returns 0 or -errno. */
int uw_reserved_client_open(struct uw_reserved_client *client, int family);

/* The first function assigns an accepted socket, and returns its number or -errno. The second function gives the
 * reserved number back. */
int uw_reserved_client_accept(const struct uw_reserved_client *client, uintptr_t socket);
void uw_reserved_client_close(const struct uw_reserved_client *client);

/* Returns a non-blocking SOCKET for overlapped calls, or -errno. */
int64_t uw_socket_new(int family, int type, int protocol);

/* These functions never wait. They fail with -EAGAIN instead. */
int uw_socket_accept(struct uw_object *object);
int64_t uw_socket_receive(const struct uw_object *object, void *bytes, size_t length);
int64_t uw_socket_send(const struct uw_object *object, const struct iovec *pieces, size_t count);

/* Fills at most UW_PIECES_MAX buffers. Returns their number. */
size_t uw_fill_buffers(struct _WSABUF *buffers, const struct iovec *pieces, size_t count);

/* Returns 0 or -errno. -EAGAIN: the socket becomes writable when connecting has succeeded or failed. */
int uw_socket_connect(const struct uw_object *object, const void *address, int size);

/* Returns the result of connecting: 0 or -errno. */
int uw_socket_connected(const struct uw_object *object);

/* Returns the events (windows/poll_events.h) that have occurred, including errors and hang-ups. Waits at most
 * `wait_ms`. -1: no limit. For other objects than sockets, returns all readable and writable events of `events`. */
int uw_object_poll(struct uw_object *object, int events, int wait_ms);

/* Maps the errno of a send to POSIX: EPIPE if the peer has closed. */
int uw_errno_of_sending(int error);

#endif
