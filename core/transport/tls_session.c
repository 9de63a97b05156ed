#include "transport/tls_session.h"

#include <string.h>
#include <time.h>

static int64_t earlier_time(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

int64_t uw_tls_session_end(int64_t now, int64_t certificates_end)
{
    return earlier_time(now + UW_TLS_SESSION_SECONDS_MAX, certificates_end);
}

bool uw_tls_session_set_end(SSL_SESSION *session, int64_t end)
{
    int64_t made = (int64_t)SSL_SESSION_get_time(session), left = end > made ? end - made : 0;

    (void)SSL_SESSION_set_timeout(session, (long)earlier_time(left, (int64_t)SSL_SESSION_get_timeout(session)));
    return SSL_SESSION_set1_ticket_appdata(session, &end, sizeof end) == 1;
}

int64_t uw_tls_session_get_end(SSL_SESSION *session)
{
    void *data = NULL;
    size_t length = 0;
    int64_t end = 0;

    if (SSL_SESSION_get0_ticket_appdata(session, &data, &length) == 1 && length == sizeof end)
        memcpy(&end, data, sizeof end);
    return end;
}

/* An end beyond the limit was set before the clock was set back. */
bool uw_tls_session_may_resume(int64_t end, int64_t now)
{
    return now < end && end <= now + UW_TLS_SESSION_SECONDS_MAX;
}

/* Returns the earliest expiry of `end` and the certificates in the client's chain. A client without a certificate has
 * no chain. */
static int64_t earliest_expiry(const STACK_OF(X509) * chain, int64_t end, int64_t now)
{
    for (int i = 0; i < sk_X509_num(chain); i++)
        end = earlier_time(end, uw_tls_seconds_of(X509_get0_notAfter(sk_X509_value(chain, i)), now));
    return end;
}

/* Returns the end of a session that has just begun. */
static int64_t new_session_end(const SSL *ssl)
{
    const X509 *own = SSL_get_certificate(ssl);
    int64_t now = (int64_t)time(NULL), end = own ? uw_tls_seconds_of(X509_get0_notAfter(own), now) : INT64_MAX;

    return uw_tls_session_end(now, earliest_expiry(SSL_get0_verified_chain(ssl), end, now));
}

/* A resumed session keeps its end. */
static int store_session_end(SSL *ssl, void *argument)
{
    SSL_SESSION *session = SSL_get_session(ssl);
    int64_t end = SSL_session_reused(ssl) ? uw_tls_session_get_end(session) : new_session_end(ssl);

    (void)argument;
    return uw_tls_session_set_end(session, end);
}

static SSL_TICKET_RETURN check_session_end(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                           size_t name_length, SSL_TICKET_STATUS status, void *argument)
{
    bool opened = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;

    (void)ssl;
    (void)name;
    (void)name_length;
    (void)argument;
    if (!opened || !uw_tls_session_may_resume(uw_tls_session_get_end(session), (int64_t)time(NULL)))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

bool uw_tls_sessions_limit(SSL_CTX *ssl_context)
{
    return SSL_CTX_set_session_ticket_cb(ssl_context, store_session_end, check_session_end, NULL) == 1;
}
