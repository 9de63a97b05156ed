/* Chunks become records. */
#ifndef UW_TRANSPORT_TLS_SEAL_H
#define UW_TRANSPORT_TLS_SEAL_H

#include "transport/tls_buffers.h"

/* Has OpenSSL write at most `most` bytes of the chunks from `first` on, in full records but for the last. Returns how
 * many it were: fewer when a file has ended before it was to, 0 when that was at once; or -errno. */
int64_t uw_tls_seal(SSL *ssl, struct uw_tls_buffers *buffers, const struct uw_chunk *first, size_t most);

/* What those bytes become, at most. */
size_t uw_tls_sealed_bytes(size_t bytes);

#endif
