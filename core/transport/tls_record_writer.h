/* Seals chunks into TLS records. */
#ifndef UW_TRANSPORT_TLS_RECORD_WRITER_H
#define UW_TRANSPORT_TLS_RECORD_WRITER_H

#include "transport/tls_buffers.h"

/* Seals at most `most` bytes of the chunks from `first` on, in full records except the last one. Returns the number of
 * bytes, or -errno. The number is smaller if a file ends early, and 0 if it ends at once. */
int64_t uw_tls_seal(SSL *ssl, struct uw_tls_buffers *buffers, const struct uw_chunk *first, size_t most);

/* Returns the maximum size of `bytes` bytes after sealing. */
size_t uw_tls_sealed_bytes(size_t bytes);

#endif
