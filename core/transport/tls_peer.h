/* Who is at the other end of a TLS connection, and what has been agreed upon with him: known once the handshake is
 * done, and the same until the endpoint is released, so that whoever keeps the connection alive may read it on any
 * thread. */
#ifndef UW_TRANSPORT_TLS_PEER_H
#define UW_TRANSPORT_TLS_PEER_H

struct uw_endpoint;

/* Of a client who has given one; it has been verified, or else there would be no connection. */
struct uw_tls_client {
    const char *certificate;      /* PEM */
    const char *subject, *issuer; /* as RFC 2253 writes them, in UTF-8 */
    const char *serial;           /* in hexadecimal digits */
};

struct uw_tls_peer {
    const char *version;                /* "TLSv1.3" */
    const char *cipher;                 /* "TLS_AES_128_GCM_SHA256" */
    const char *name;                   /* the one that the client asked for (SNI), or NULL */
    const char *protocol;               /* by ALPN, or NULL */
    const struct uw_tls_client *client; /* NULL without a certificate */
};

/* NULL before the handshake is done, and for plain endpoints. */
const struct uw_tls_peer *uw_endpoint_peer(const struct uw_endpoint *endpoint);

#endif
