/* Memory that TLS needs only briefly, one set for each loop, so that an idle connection has none. The set includes the
 * loop's line of handshakes. */
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
#define UW_TLS_BUFFERS_LARGE_MAX 64 /* in use at a time; without a free one, a connection sends record by record */
#define UW_TLS_STAGE_BYTES (4 * UW_TLS_RECORD_BYTES_MAX)

/* Ciphertext on its way to the client. */
struct uw_tls_buffer {
    struct uw_tls_buffer *next; /* links free buffers of the pool */
    size_t length, capacity;
    char bytes[];
};

struct uw_tls_buffer_pool {
    struct uw_tls_buffer *first;
    size_t kept, in_use;
};

struct uw_tls_buffers {
    struct uw_tls_buffer_pool small, large;
    struct uw_tls_handshake_queue line;
    char received[UW_RECEIVE_BYTES_MAX + UW_TLS_RECORD_BYTES_MAX]; /* plaintext of one receive and a partial record */
    char stage[UW_TLS_STAGE_BYTES];                                /* small pieces for one record, or bytes of a file */
};

/* Returns the loop's buffers, which are freed with the loop, or NULL when memory is exhausted. */
struct uw_tls_buffers *uw_tls_buffers_of(struct uw_loop *loop);

/* Returns whether another large buffer is allowed. */
bool uw_tls_buffers_have_large(const struct uw_tls_buffers *buffers);

/* Returns an empty buffer with space for `bytes`. Returns NULL without memory, or above UW_TLS_BUFFER_LARGE_BYTES. */
struct uw_tls_buffer *uw_tls_buffer_take(struct uw_tls_buffers *buffers, size_t bytes);
void uw_tls_buffer_give(struct uw_tls_buffers *buffers, struct uw_tls_buffer *buffer);

/* Appends bytes in place, or in a larger buffer that replaces `*buffer` (NULL: none yet). Returns false when this
 * fails. */
bool uw_tls_buffer_append(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, const char *bytes,
                          size_t length);

/* Sends as much of the buffer (NULL: empty) as the socket accepts; the rest remains. Returns whether the buffer is
 * empty. */
bool uw_tls_buffer_leave(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, int fd);

#endif
