/* Limits how long a session may be resumed. A resumption proves only that the client was a peer of the first handshake.
 * So a session ends with the certificates that this handshake verified, and after UW_TLS_SESSION_SECONDS_MAX, however
 * often it was resumed (RFC 8446, section 4.6.1). Each ticket of the session contains the end, sealed. */
#ifndef UW_TRANSPORT_TLS_SESSION_H
#define UW_TRANSPORT_TLS_SESSION_H

#include <stdbool.h>

#include "transport/tls_openssl.h"

#define UW_TLS_SESSION_SECONDS_MAX (24 * 60 * 60) /* from the full handshake to the last resumption */

/* Puts the end of each session into its tickets, and refuses tickets after it. Returns false when OpenSSL fails. */
bool uw_tls_sessions_limit(SSL_CTX *ssl_context);

/* These functions are public for their test. Times are Unix seconds. */

/* Returns when a session that begins `now` ends. `certificates_end` is the first expiry of its certificates. */
int64_t uw_tls_session_end(int64_t now, int64_t certificates_end);

/* Writes the end into the session's tickets, and shortens the life of the next ticket. Returns false when memory is
 * exhausted. */
bool uw_tls_session_note_end(SSL_SESSION *session, int64_t end);

/* Returns the end that uw_tls_session_note_end wrote, or 0. */
int64_t uw_tls_session_noted_end(SSL_SESSION *session);

/* Returns whether a session that ends at `end` may be resumed. */
bool uw_tls_session_lives(int64_t end, int64_t now);

#endif
