/* OCSP responses (RFC 6960) for stapling. An OCSP response is the issuer's statement about a certificate. It is sent in
 * handshakes while it is valid. */
#ifndef UW_TRANSPORT_TLS_OCSP_H
#define UW_TRANSPORT_TLS_OCSP_H

#include <stdbool.h>

#include "transport/tls_openssl.h"

#define UW_TLS_OCSP_BYTES_MAX 65535 /* maximum length of a response */

struct uw_tls_ocsp {
    unsigned char *bytes; /* NULL: no response */
    size_t length;
    int64_t since, until; /* period of validity in Unix seconds */
};

/* A certificate with the path of its OCSP response, and the chain with the possible issuers */
struct uw_tls_ocsp_subject {
    const struct uw_tls_certificate *paths;
    X509 *certificate;
    const STACK_OF(X509) * chain;
};

/* Reads an OCSP response. Returns 0 if the response has the issuer's signature and the status "good". Otherwise returns
 * -errno with a sentence in `message`. A response that is not valid now adds a warning. The caller must free `ocsp` in
 * both cases. */
int uw_tls_ocsp_read(struct uw_tls_ocsp *ocsp, const struct uw_tls_ocsp_subject *subject,
                     char message[UW_TLS_MESSAGE_BYTES_MAX]);
void uw_tls_ocsp_free(struct uw_tls_ocsp *ocsp);

/* Returns true if a response exists and is valid now. */
bool uw_tls_ocsp_is_valid(const struct uw_tls_ocsp *ocsp);

#endif
