/* Limits the lifetime of a session. A resumption proves only that the client was the peer of the full handshake. So a
 * session ends with the certificates of this handshake, and at the latest after UW_TLS_SESSION_SECONDS_MAX (RFC 8446,
 * section 4.6.1). Repeated resumption does not extend it. Each ticket of the session contains the end, encrypted. */
#ifndef UW_TRANSPORT_TLS_SESSION_H
#define UW_TRANSPORT_TLS_SESSION_H

#include <stdbool.h>

#include "transport/tls_openssl.h"

#define UW_TLS_SESSION_SECONDS_MAX (24 * 60 * 60) /* time from the full handshake to the last resumption */

/* Stores the end of each session in its tickets, and refuses tickets after this end. Returns false on failure. */
bool uw_tls_sessions_limit(SSL_CTX *ssl_context);

/* These functions are public for tests. Times are Unix seconds. */

/* Returns the end of a session that begins `now`. `certificates_end` is the earliest expiry of its certificates. */
int64_t uw_tls_session_end(int64_t now, int64_t certificates_end);

/* Stores the end in the session's tickets, and limits the lifetime of the next ticket. Returns false without memory. */
bool uw_tls_session_set_end(SSL_SESSION *session, int64_t end);

/* Returns the end that uw_tls_session_set_end has stored, or 0. */
int64_t uw_tls_session_get_end(SSL_SESSION *session);

/* Returns true if a session with this end may be resumed. */
bool uw_tls_session_may_resume(int64_t end, int64_t now);

#endif
