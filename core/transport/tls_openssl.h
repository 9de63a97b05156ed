/* OpenSSL helpers that only the TLS files share. */
#ifndef UW_TRANSPORT_TLS_OPENSSL_H
#define UW_TRANSPORT_TLS_OPENSSL_H

#include "base/openssl_library.h"
#include "transport/tls_connection_info.h"
#include "transport/tls_context.h"

struct uw_tls_carrier;

#define UW_TLS_RECORD_BYTES_MAX SSL3_RT_MAX_PLAIN_LENGTH /* limit of plaintext */

/* Returns a server's state of one connection in the context, or NULL when memory is exhausted. The state reads and
 * writes through the carrier, see tls_bio.h. */
SSL *uw_tls_context_start(struct uw_tls_context *context, struct uw_tls_carrier *carrier);

/* Records the peer of the handshake. Returns false when memory is exhausted. The caller forgets `peer` in either case.
 */
bool uw_tls_peer_note(struct uw_tls_peer *peer, const struct uw_tls_context *context, const SSL *ssl);
void uw_tls_peer_forget(struct uw_tls_peer *peer);

/* Returns the chosen ALPN name of the context, or NULL. */
const char *uw_tls_context_protocol(const struct uw_tls_context *context, const SSL *ssl);

/* Writes the sentence, followed by OpenSSL's reason for the last failure. Returns `error`. */
int uw_tls_explain(char message[UW_TLS_MESSAGE_BYTES_MAX], int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a sentence to those in `message`. */
void uw_tls_warn(char message[UW_TLS_MESSAGE_BYTES_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens a file for reading, or a pipe such as the shell's process substitution, without waiting for a writer. Returns
 * 0, or -errno with a sentence. */
int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX]);

/* Converts `moment` to Unix seconds; `now` is the present. An invalid time becomes one in the distant past. */
int64_t uw_tls_seconds_of(const ASN1_TIME *moment, int64_t now);

#endif
