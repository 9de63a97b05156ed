/* The transport seam: bytes from and to a connected descriptor. A transport is a const struct of functions; an endpoint
 * is one descriptor that is served by it, embedded in its owner (a connection), to whom it tells what happens.
 *
 *     received, receive_ended, sent, ready   the endpoint tells its owner
 *     open, receive, pause, send, ...        the owner asks the endpoint
 *
 * Nothing is told from within a call of the owner's, except where it is said. All of it is the loop's thread's. */
#ifndef UW_TRANSPORT_TRANSPORT_H
#define UW_TRANSPORT_TRANSPORT_H

#include <sys/uio.h>

#include "io/loop.h"
#include "transport/chunk.h"

struct uw_endpoint;
struct uw_tls;         /* tls.c's: the state of one connection */
struct uw_tls_context; /* tls_context.c's: what the connections of a listener share */

#define UW_SEND_BYTES_MAX (256 * 1024)              /* a client must take so many within write_timeout */
#define UW_SEND_PIECES_MAX 6                        /* of memory, by one operation: two for each chunk at most */
#define UW_SEND_FILE_BYTES_MAX (1024 * 1024 * 1024) /* of a file, by one operation */

struct uw_endpoint_owner {
    /* Bytes can be exchanged, and the protocol is agreed upon: at once for `plain` (from within open), after the
     * handshake for TLS. Nothing has been received before. What came with the end of the handshake is told at once
     * after it, so `receive` is to be called from within. */
    void (*ready)(struct uw_endpoint *endpoint);

    /* Bytes have come; they are the callee's only while this runs. Not after `pause`, unless they had been taken from
     * the kernel before. */
    void (*received)(struct uw_endpoint *endpoint, const char *bytes, size_t length);

    /* Receiving has ended: 0 at the end of the stream, -ECANCELED after `pause`, else -errno. Before `ready` it means
     * that there will be none: -EPROTO after a handshake that failed. Not told once the endpoint is closed. */
    void (*receive_ended)(struct uw_endpoint *endpoint, int32_t result);

    /* What `send` began has ended: `count` bytes of the chunks have been taken, or it is 0 or -errno, after which
     * nothing can be sent any more. Not told once the endpoint is closed: then only `settled` is. */
    void (*sent)(struct uw_endpoint *endpoint, int64_t count);

    /* A closed endpoint has no operation in the kernel any more. */
    void (*settled)(struct uw_endpoint *endpoint);
};

struct uw_transport {
    const char *name;

    /* Begins with the descriptor that the endpoint has. Returns 0; or -errno, and then nothing has begun, but `close`
     * and `release` follow all the same. */
    int (*open)(struct uw_endpoint *endpoint);

    /* Receives until `pause`, the end, or an error; once after `ready`, and again after receive_ended(-ECANCELED). */
    void (*receive)(struct uw_endpoint *endpoint);
    void (*pause)(struct uw_endpoint *endpoint);

    /* Sends from `first` on, in one operation of at most UW_SEND_BYTES_MAX bytes (UW_SEND_FILE_BYTES_MAX of a file);
     * there is something in `first`, and nothing is being sent. Chunks must stay until `sent` is told. */
    void (*send)(struct uw_endpoint *endpoint, struct uw_chunk *first);

    /* What is being sent right now has got so far: bytes of the chunks that the kernel has taken already. */
    size_t (*progress)(const struct uw_endpoint *endpoint);

    /* Nothing more will be sent: the client sees the end of the stream, and may still send. All is done when this
     * returns, and `close` may follow at once; but while send.pending is set, the last word is still waiting for room,
     * and closing would take it back. Returns 0 or -errno. */
    int (*shut)(struct uw_endpoint *endpoint);

    /* Whether the descriptor itself can be handed out: bytes written to it reach the client as they are. */
    bool hands_out_descriptor;

    /* Cancels what is under way; `settled` is told once, perhaps from within. */
    void (*close)(struct uw_endpoint *endpoint);

    /* Frees what the transport has allocated for the endpoint, which is settled or whose loop has been closed. The
     * descriptor is the owner's. */
    void (*release)(struct uw_endpoint *endpoint);
};

struct uw_endpoint {
    const struct uw_transport *transport;
    const struct uw_endpoint_owner *owner;
    struct uw_loop *loop;
    struct uw_tls_context *context; /* set before `open`, which holds it; NULL for plain, like the next */
    struct uw_tls *tls;
    int fd;
    bool sending; /* chunks: `sent` is to be told */
    bool closed;  /* nothing is told any more but that it has `settled` */
    bool settled;
    struct uw_operation receive, send;
    struct msghdr vector; /* of a UW_SEND_VECTOR */
    struct iovec pieces[UW_SEND_PIECES_MAX];
};

extern const struct uw_transport uw_transport_plain;
extern const struct uw_transport uw_transport_tls; /* see tls_peer.h for whom it talks to */

#endif
