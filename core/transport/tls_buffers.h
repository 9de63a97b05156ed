/* Memory that TLS needs only briefly. Each loop has one set of buffers, so an idle connection has none. The set
 * includes the loop's queue of handshakes. */
#ifndef UW_TRANSPORT_TLS_BUFFERS_H
#define UW_TRANSPORT_TLS_BUFFERS_H

#include <stdbool.h>

#include "transport/tls_handshake_queue.h"
#include "transport/tls_openssl.h"
#include "transport/transport.h"

#define UW_TLS_BUFFER_SMALL_BYTES (UW_TLS_RECORD_BYTES_MAX + 1024) /* for one record */
#define UW_TLS_BUFFER_LARGE_BYTES (UW_SEND_BYTES_MAX + 8192)       /* for the records of one send */
#define UW_TLS_BUFFERS_SMALL_KEPT 64
#define UW_TLS_BUFFERS_LARGE_KEPT 8
#define UW_TLS_BUFFERS_LARGE_MAX 64 /* buffers in use. Without a free buffer, a connection sends record by record */
#define UW_TLS_STAGE_BYTES (4 * UW_TLS_RECORD_BYTES_MAX)

/* Ciphertext that waits to be sent */
struct uw_tls_buffer {
    struct uw_tls_buffer *next; /* next free buffer of the pool */
    size_t length, capacity;
    char bytes[];
};

struct uw_tls_buffer_pool {
    struct uw_tls_buffer *first;
    size_t kept_count, in_use;
};

struct uw_tls_buffers {
    struct uw_tls_buffer_pool small, large;
    struct uw_tls_handshake_queue handshakes;
    char received[UW_RECEIVE_BYTES_MAX + UW_TLS_RECORD_BYTES_MAX]; /* plaintext of one receive and a partial record */
    char stage[UW_TLS_STAGE_BYTES];                                /* small pieces for one record, or bytes of a file */
};

/* Returns the loop's buffers, which are freed with the loop. Returns NULL without memory. */
struct uw_tls_buffers *uw_tls_buffers_of(struct uw_loop *loop);

/* Returns true if another large buffer is allowed. */
bool uw_tls_buffers_have_large(const struct uw_tls_buffers *buffers);

/* Returns an empty buffer with space for `bytes`. Returns NULL without memory, or above UW_TLS_BUFFER_LARGE_BYTES. */
struct uw_tls_buffer *uw_tls_buffer_take(struct uw_tls_buffers *buffers, size_t bytes);
void uw_tls_buffer_return(struct uw_tls_buffers *buffers, struct uw_tls_buffer *buffer);

/* Appends bytes to `*buffer`, which may be NULL. A larger buffer may replace `*buffer`. Returns false without memory,
 * or above UW_TLS_BUFFER_LARGE_BYTES. */
bool uw_tls_buffer_append(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, const char *bytes,
                          size_t length);

/* Sends as much of `*buffer`, which may be NULL, as the socket accepts. The rest remains. Returns true if the buffer is
 * empty. */
bool uw_tls_buffer_send_now(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, int fd);

#endif
