/* What the files of TLS here share of OpenSSL; nobody else includes this. */
#ifndef UW_TRANSPORT_TLS_OPENSSL_H
#define UW_TRANSPORT_TLS_OPENSSL_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "transport/tls_context.h"
#include "transport/tls_peer.h"

struct uw_tls_carrier;

#define UW_TLS_RECORD_BYTES_MAX SSL3_RT_MAX_PLAIN_LENGTH /* of plaintext */

/* A connection's state of a server in that context, or NULL when memory is exhausted. It reads what the caller feeds it
 * and writes what the caller carries away, see tls_bio.h. */
SSL *uw_tls_context_start(struct uw_tls_context *context, struct uw_tls_carrier *carrier);

/* Notes whom the handshake was with. Returns false when memory is exhausted. `peer` is to be forgotten in either case.
 */
bool uw_tls_peer_note(struct uw_tls_peer *peer, const struct uw_tls_context *context, const SSL *ssl);
void uw_tls_peer_forget(struct uw_tls_peer *peer);

/* The one of the context's ALPN names that was chosen, or NULL. */
const char *uw_tls_context_protocol(const struct uw_tls_context *context, const SSL *ssl);

/* Writes the sentence, with OpenSSL's reason for what just failed behind it; returns `error`. */
int uw_tls_explain(char message[UW_TLS_MESSAGE_BYTES_MAX], int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Opens a file for reading. Returns 0; or -errno with a sentence. */
int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX]);

#endif
