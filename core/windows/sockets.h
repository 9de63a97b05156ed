/* Calls on the socket of an object, without its number; the caller has a reference to the object. They return counts,
 * or -errno. */
#ifndef UW_WINDOWS_SOCKETS_H
#define UW_WINDOWS_SOCKETS_H

#include <stddef.h>

#include "windows/descriptor_table.h"

struct iovec;
struct _WSABUF; /* Winsock's; this header must not include its header */

#define UW_PIECES_MAX 64 /* of a vector in one call */

/* Returns a number for a new socket, or -errno. */
int uw_socket_adopt(uintptr_t socket, enum uw_kind kind, int family, bool nonblocking, bool close_on_exec);

/* A client before accept, with its reserved number. */
struct uw_expected {
    struct uw_object *object; /* with a reference: other threads may close or reuse the number */
    int fd;
};

/* Returns 0 or -errno. */
int uw_push_client_expect(struct uw_expected *client, int family);

/* The client was accepted; returns its number, or -errno. uw_push_client_forget: no client came. */
int uw_push_client_came(const struct uw_expected *client, uintptr_t socket);
void uw_push_client_forget(const struct uw_expected *client);

/* A SOCKET that can be waited for; or -errno. */
int64_t uw_socket_new(int family, int type, int protocol);

/* None of these waits: -EAGAIN. */
int uw_socket_accept(struct uw_object *object);
int64_t uw_socket_receive(const struct uw_object *object, void *bytes, size_t length);
int64_t uw_socket_send(const struct uw_object *object, const struct iovec *pieces, size_t count);

/* Fills at most UW_PIECES_MAX buffers. Returns the number of pieces filled in. */
size_t uw_fill_buffers(struct _WSABUF *buffers, const struct iovec *pieces, size_t count);

/* 0; or -EAGAIN: it will be writable once it is connected, or has failed. */
int uw_socket_connect(const struct uw_object *object, const void *address, int size);

/* Returns the result of the connect: 0 or -errno. */
int uw_socket_connected(const struct uw_object *object);

/* Returns which of the events (windows/poll_events.h) have occurred, with errors and hang-ups. Waits at most `wait_ms`;
 * -1: without limit. Other objects than sockets: returns all of `events`. */
int uw_object_poll(struct uw_object *object, int events, int wait_ms);

/* Maps a send error to POSIX: a peer that has closed gives EPIPE. */
int uw_errno_of_sending(int error);

#endif
