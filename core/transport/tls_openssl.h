/* Functions with OpenSSL's types that only the TLS files share. */
#ifndef UW_TRANSPORT_TLS_OPENSSL_H
#define UW_TRANSPORT_TLS_OPENSSL_H

#include "base/openssl_library.h"
#include "transport/tls_connection_info.h"
#include "transport/tls_context.h"

struct uw_tls_carrier;

#define UW_TLS_RECORD_BYTES_MAX SSL3_RT_MAX_PLAIN_LENGTH /* maximum bytes of plaintext in a record */

/* Returns the server's state of one connection, or NULL without memory. The state reads and writes through `carrier`,
 * see tls_bio.h. */
SSL *uw_tls_context_start(struct uw_tls_context *context, struct uw_tls_carrier *carrier);

/* Reads the peer of a finished handshake. Returns false without memory. The caller must call uw_tls_peer_free in both
 * cases. */
bool uw_tls_peer_init(struct uw_tls_peer *peer, const struct uw_tls_context *context, const SSL *ssl);
void uw_tls_peer_free(struct uw_tls_peer *peer);

/* Returns the negotiated ALPN name as a string of the context, or NULL. */
const char *uw_tls_context_protocol(const struct uw_tls_context *context, const SSL *ssl);

/* Writes the sentence and OpenSSL's reason for the last failure to `message`. Returns `error`. */
int uw_tls_explain(char message[UW_TLS_MESSAGE_BYTES_MAX], int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a sentence to `message`. */
void uw_tls_warn(char message[UW_TLS_MESSAGE_BYTES_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens a file for reading, without waiting for the writer of a pipe. Pipes come from the shell's process substitution.
 * Returns 0, or -errno with a sentence in `message`. */
int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX]);

/* Converts `moment` to Unix seconds. `now` is the current time. An invalid time becomes 0. */
int64_t uw_tls_seconds_of(const ASN1_TIME *moment, int64_t now);

#endif
