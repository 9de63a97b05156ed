/* The transport interface: bytes from and to a connected descriptor. A transport is a const struct of functions. An
 * endpoint is one descriptor that a transport serves. It is embedded in its owner (a connection), which it notifies of
 * events.
 *
 *     received, receive_ended, sent, ready   the endpoint notifies its owner
 *     open, receive, pause, send, ...        the owner calls the endpoint
 *
 * The endpoint notifies its owner from within a call of the owner only where a comment says so. Only the loop's thread
 * uses all of it. */
#ifndef UW_TRANSPORT_TRANSPORT_H
#define UW_TRANSPORT_TRANSPORT_H

#include <sys/uio.h>

#include "io/loop.h"
#include "transport/chunk.h"

struct uw_endpoint;
struct uw_tls;         /* tls.c: the state of one connection */
struct uw_tls_context; /* tls_context.c: data that the connections of a listener share */

#define UW_SEND_BYTES_MAX (256 * 1024)              /* a client must receive as much within write_timeout */
#define UW_SEND_PIECES_MAX 6                        /* pieces of memory in one operation: at most two for each chunk */
#define UW_SEND_FILE_BYTES_MAX (1024 * 1024 * 1024) /* bytes of a file in one operation */

struct uw_endpoint_owner {
    /* Bytes can be exchanged, and the protocol is negotiated. `plain` calls this at once, within `open`; TLS calls it
     * after the handshake. No bytes have been received before. Bytes that came with the end of the handshake follow at
     * once, so call `receive` within this call. */
    void (*ready)(struct uw_endpoint *endpoint);

    /* Bytes have arrived; they are valid only during the call. After `pause` only bytes arrive that were already read
     * from the kernel. */
    void (*received)(struct uw_endpoint *endpoint, const char *bytes, size_t length);

    /* Receiving has ended: 0 at the end of the stream, -ECANCELED after `pause`, else -errno. Before `ready` no bytes
     * will be received: -EPROTO after a failed handshake. Never called after `close`. */
    void (*receive_ended)(struct uw_endpoint *endpoint, int32_t result);

    /* The send has ended: `count` bytes of the chunks were sent. After 0 or -errno nothing more can be sent. Never
     * called after `close`: then only `settled` is. */
    void (*sent)(struct uw_endpoint *endpoint, int64_t count);

    /* A closed endpoint has no operation in the kernel any more. */
    void (*settled)(struct uw_endpoint *endpoint);
};

struct uw_transport {
    const char *name;

    /* Starts with the endpoint's descriptor. Returns 0, or -errno when nothing has started; `close` and `release`
     * follow in both cases. */
    int (*open)(struct uw_endpoint *endpoint);

    /* Receives until `pause`, the end, or an error. Call this once after `ready`, and again after
     * receive_ended(-ECANCELED). */
    void (*receive)(struct uw_endpoint *endpoint);
    void (*pause)(struct uw_endpoint *endpoint);

    /* Returns whether bytes have arrived that cannot be delivered yet. NULL: never. */
    bool (*holds_bytes)(const struct uw_endpoint *endpoint);

    /* Sends from `first` on, in one operation of at most UW_SEND_BYTES_MAX bytes (UW_SEND_FILE_BYTES_MAX of a file).
     * `first` is not empty, and no other send is in progress. Chunks must not be freed or changed until `sent` is
     * called. */
    void (*send)(struct uw_endpoint *endpoint, struct uw_chunk *first);

    /* Returns the progress of the current send: bytes of the chunks that the kernel has accepted. */
    size_t (*progress)(const struct uw_endpoint *endpoint);

    /* Ends sending: the client sees the end of the stream and may still send. The work is done on return, and `close`
     * may follow at once. But while send.pending is set, the last bytes still wait for space, and `close` would drop
     * them. Returns 0 or -errno. */
    int (*shut)(struct uw_endpoint *endpoint);

    /* The descriptor itself can be detached: bytes written to it reach the client unchanged. */
    bool hands_out_descriptor;

    /* Cancels the operations in progress. `settled` follows once, perhaps within this call. */
    void (*close)(struct uw_endpoint *endpoint);

    /* Frees the transport's memory for the endpoint, after `settled` or after its loop has been closed. The descriptor
     * remains the owner's. */
    void (*release)(struct uw_endpoint *endpoint);
};

struct uw_endpoint {
    const struct uw_transport *transport;
    const struct uw_endpoint_owner *owner;
    struct uw_loop *loop;
    struct uw_tls_context *context; /* set before `open`, which adds a reference; NULL for plain, as `tls` */
    struct uw_tls *tls;
    int fd;
    bool sending; /* `sent` will be called */
    bool closed;  /* no call to the owner follows except `settled` */
    bool settled;
    struct uw_operation receive, send;
    struct msghdr vector; /* the message of a UW_SEND_VECTOR */
    struct iovec pieces[UW_SEND_PIECES_MAX];
};

extern const struct uw_transport uw_transport_plain;
extern const struct uw_transport uw_transport_tls; /* tls_connection_info.h describes the peer */

#endif
