/* Staples an OCSP response (RFC 6960), the issuer's statement on a certificate, to handshakes while it is valid. */
#ifndef UW_TRANSPORT_TLS_OCSP_H
#define UW_TRANSPORT_TLS_OCSP_H

#include <stdbool.h>

#include "transport/tls_openssl.h"

#define UW_TLS_OCSP_BYTES_MAX 65535 /* limit of a response for stapling */

struct uw_tls_ocsp {
    unsigned char *bytes; /* NULL: no response */
    size_t length;
    int64_t since, until; /* Unix seconds */
};

/* A certificate with its OCSP response, and the possible issuers. */
struct uw_tls_vouched {
    const struct uw_tls_certificate *paths;
    X509 *certificate;
    const STACK_OF(X509) * chain;
};

/* Returns 0 if the response is signed for the issuer and says that the certificate is good, else -errno with a
 * sentence. A response that is not valid now adds a warning to `message`. The caller frees `ocsp` in either case. */
int uw_tls_ocsp_read(struct uw_tls_ocsp *ocsp, const struct uw_tls_vouched *vouched,
                     char message[UW_TLS_MESSAGE_BYTES_MAX]);
void uw_tls_ocsp_free(struct uw_tls_ocsp *ocsp);

/* Returns whether a response exists and is valid now. */
bool uw_tls_ocsp_is_valid(const struct uw_tls_ocsp *ocsp);

#endif
