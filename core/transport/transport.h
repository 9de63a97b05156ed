/* The transport interface: bytes from and to a connected descriptor. A transport is a const struct of functions. An
 * endpoint is one descriptor with its transport. The endpoint is embedded in its owner (a connection).
 *
 *     received, receive_ended, sent, ready   the endpoint notifies its owner
 *     open, receive, pause, send, ...        the owner calls the endpoint
 *
 * The endpoint notifies its owner within a call of the owner only if a comment says so. Everything belongs to the
 * loop's thread. */
#ifndef UW_TRANSPORT_TRANSPORT_H
#define UW_TRANSPORT_TRANSPORT_H

#include <sys/uio.h>

#include "io/loop.h"
#include "transport/chunk.h"

struct uw_endpoint;
struct uw_tls;         /* state of one connection, in tls.c */
struct uw_tls_context; /* data that the connections of a listener share, in tls_context.c */

#define UW_SEND_BYTES_MAX (256 * 1024)              /* a client must receive as many bytes within write_timeout */
#define UW_SEND_PIECES_MAX 6                        /* pieces of memory in one send, at most two for each chunk */
#define UW_SEND_FILE_BYTES_MAX (1024 * 1024 * 1024) /* bytes of a file in one send */

struct uw_endpoint_owner {
    /* Bytes can be exchanged, and the protocol is negotiated. `plain` calls this within `open`, TLS after the
     * handshake. No bytes have been received before. The owner must call `receive` within this call: bytes that arrive
     * with the end of the handshake follow at once. */
    void (*ready)(struct uw_endpoint *endpoint);

    /* Bytes have arrived. They are valid only during the call. After `pause` only bytes arrive that were already read
     * from the kernel. */
    void (*received)(struct uw_endpoint *endpoint, const char *bytes, size_t length);

    /* Receiving has ended: 0 at the end of the stream, -ECANCELED after `pause`, or another -errno. If this call
     * precedes `ready`, the handshake has failed: for example -EPROTO. Never called after `close`. */
    void (*receive_ended)(struct uw_endpoint *endpoint, int32_t result);

    /* The send has ended: `count` bytes of the chunks were sent. After 0 or -errno nothing more can be sent. Never
     * called after `close`: then only `settled` follows. */
    void (*sent)(struct uw_endpoint *endpoint, int64_t count);

    /* The closed endpoint has no pending operation. */
    void (*settled)(struct uw_endpoint *endpoint);
};

struct uw_transport {
    const char *name;

    /* Starts to use the endpoint's descriptor. Returns 0, or -errno if nothing was started. In both cases the owner
     * must call `close` and `release`. */
    int (*open)(struct uw_endpoint *endpoint);

    /* Receives until `pause`, the end, or an error. Must be called once after `ready`, and again after
     * receive_ended(-ECANCELED). */
    void (*receive)(struct uw_endpoint *endpoint);
    void (*pause)(struct uw_endpoint *endpoint);

    /* Returns true if bytes have arrived that cannot be delivered yet. NULL: never. */
    bool (*holds_bytes)(const struct uw_endpoint *endpoint);

    /* Sends from `first` on, in one operation of at most UW_SEND_BYTES_MAX bytes, or UW_SEND_FILE_BYTES_MAX of a file.
     * `first` is not empty, and no other send is in progress. Chunks must not be freed or changed until `sent` is
     * called. */
    void (*send)(struct uw_endpoint *endpoint, struct uw_chunk *first);

    /* Returns the progress of the current send: bytes of the chunks that the kernel has accepted. */
    size_t (*progress)(const struct uw_endpoint *endpoint);

    /* Ends sending: the client gets the end of the stream, and may still send. `close` may follow at once. But while
     * send.pending is set, the last bytes wait for space, and `close` would drop them. Returns 0 or -errno. */
    int (*shut)(struct uw_endpoint *endpoint);

    /* The descriptor can be detached: bytes written to it reach the client unchanged. */
    bool hands_out_descriptor;

    /* Cancels the operations in progress. `settled` follows once, possibly within this call. */
    void (*close)(struct uw_endpoint *endpoint);

    /* Frees the transport's memory for the endpoint, after `settled` or after the loop has been closed. The owner keeps
     * the descriptor. */
    void (*release)(struct uw_endpoint *endpoint);
};

struct uw_endpoint {
    const struct uw_transport *transport;
    const struct uw_endpoint_owner *owner;
    struct uw_loop *loop;
    struct uw_tls_context *context; /* set before `open`, which adds a reference. NULL for plain, like `tls` */
    struct uw_tls *tls;
    int fd;
    bool sending; /* a call of `sent` will follow */
    bool closed;  /* only `settled` will be called */
    bool settled;
    struct uw_operation receive, send;
    struct msghdr vector; /* message of a UW_SEND_VECTOR */
    struct iovec pieces[UW_SEND_PIECES_MAX];
};

extern const struct uw_transport uw_transport_plain;
extern const struct uw_transport uw_transport_tls; /* tls_connection_info.h describes the peer */

#endif
