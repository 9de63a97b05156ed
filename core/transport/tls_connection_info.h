/* The peer of a TLS connection and the negotiated parameters. They are constant from the end of the handshake until the
 * endpoint is released. Any thread with a reference to the connection may read them. */
#ifndef UW_TRANSPORT_TLS_CONNECTION_INFO_H
#define UW_TRANSPORT_TLS_CONNECTION_INFO_H

struct uw_endpoint;

/* The verified certificate of a client. The handshake fails if verification fails. */
struct uw_tls_client {
    const char *certificate;      /* PEM */
    const char *subject, *issuer; /* in the form of RFC 2253, in UTF-8 */
    const char *serial;           /* hexadecimal digits */
};

struct uw_tls_peer {
    const char *version;                /* "TLSv1.3" */
    const char *cipher;                 /* "TLS_AES_128_GCM_SHA256" */
    const char *name;                   /* host in the client's SNI, or NULL */
    const char *protocol;               /* negotiated ALPN protocol, or NULL */
    const struct uw_tls_client *client; /* NULL: the client has sent no certificate */
};

/* Returns NULL before the end of the handshake, and for plain endpoints. */
const struct uw_tls_peer *uw_endpoint_peer(const struct uw_endpoint *endpoint);

#endif
