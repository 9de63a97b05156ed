/* The memory that TLS needs only for a moment, so that an idle connection has none of it: one set a loop. */
#ifndef UW_TRANSPORT_TLS_BUFFERS_H
#define UW_TRANSPORT_TLS_BUFFERS_H

#include <stdbool.h>

#include "transport/tls_openssl.h"
#include "transport/transport.h"

#define UW_TLS_BUFFER_SMALL_BYTES (UW_TLS_RECORD_BYTES_MAX + 1024) /* holds one record */
#define UW_TLS_BUFFER_LARGE_BYTES (UW_SEND_BYTES_MAX + 8192)       /* or those of one send */
#define UW_TLS_BUFFERS_SMALL_KEPT 64
#define UW_TLS_BUFFERS_LARGE_KEPT 8
#define UW_TLS_BUFFERS_LARGE_MAX 64 /* in use at a time; who finds them all taken sends record by record */
#define UW_TLS_STAGE_BYTES (4 * UW_TLS_RECORD_BYTES_MAX)

/* Ciphertext on its way to the client. */
struct uw_tls_buffer {
    struct uw_tls_buffer *next; /* the pool's */
    size_t length, capacity;
    char bytes[];
};

struct uw_tls_buffer_pool {
    struct uw_tls_buffer *first;
    size_t kept, in_use;
};

struct uw_tls_buffers {
    struct uw_tls_buffer_pool small, large;
    char received[UW_RECEIVE_BYTES_MAX + UW_TLS_RECORD_BYTES_MAX]; /* plaintext: of one receive, with a record begun */
    char stage[UW_TLS_STAGE_BYTES]; /* what is gathered for one record, or read of a file */
};

/* The loop's, which are freed with it; or NULL when memory is exhausted. */
struct uw_tls_buffers *uw_tls_buffers_of(struct uw_loop *loop);

/* Whether there may be another large one. */
bool uw_tls_buffers_have_large(const struct uw_tls_buffers *buffers);

/* An empty one with room for `bytes`; NULL when memory is exhausted, or above UW_TLS_BUFFER_LARGE_BYTES. */
struct uw_tls_buffer *uw_tls_buffer_take(struct uw_tls_buffers *buffers, size_t bytes);
void uw_tls_buffer_give(struct uw_tls_buffers *buffers, struct uw_tls_buffer *buffer);

/* Appends, in place or in a larger buffer, which replaces `*buffer` (NULL: none yet). Returns whether it could. */
bool uw_tls_buffer_append(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, const char *bytes,
                          size_t length);

/* Sends of it (NULL: nothing) what the socket has room for; what is left stays. Returns whether that is nothing. */
bool uw_tls_buffer_leave(struct uw_tls_buffers *buffers, struct uw_tls_buffer **buffer, int fd);

#endif
